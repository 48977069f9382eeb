"""Training: warm-up, dropout and initial vectors. Questions 108, 111 and 113."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from inspector.questions.record.both import Both
from inspector.questions.record.checks import above, around, at_least, at_most, below, equal, near
from inspector.questions.record.papers import LIU_2020, QI_2018, SRIVASTAVA_2014, VASWANI_2017, XIONG_2020
from inspector.questions.record.picture import Lines, Series
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    LongExperiment,
    Measurement,
    PageLink,
    Question,
    StoredRun,
    Theme,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.trained import courses_drawn, ends, train_both
from models.training.schedules import learning_rate
from models.training.tiny.experiments import BATCH, Embeddings, Experiment, LabRun, Switches
from models.training.tiny.words import WORDS
from models.transformer import config as choices

WIDTH, WARMUP = 512, 4000  # of the paper's base model
PEAK = 1 / math.sqrt(WIDTH * WARMUP)
DEEP = 8  # layers
KINDS_STEPS = 60
SEEDS = 2
_WARM_UP = Experiment(steps=200, learning_rate=0.01, a=Switches(layers=DEEP), b=Switches(layers=DEEP, warmup=0))
_TAKEN = Experiment(task="kinds", steps=100, seeds=3, a=Switches(), b=Switches(embeddings="frozen"))
GUESSED = 0.2  # accuracy that is near guessing one of ten digits


def _run(switches: Switches, *, steps: int = 100, rate: float = 0.005) -> LabRun:
    return LabRun(task="reverse", length=4, steps=steps, learning_rate=rate, switches=switches, seed=0)


# --- 108: warm-up --------------------------------------------------------------------------------------------------


def _warm_up() -> Measurement:
    from models.training import lab

    steps = (1, 1000, 2000, 4000)
    rates = [learning_rate(step, highest=PEAK, warmup=WARMUP, steps=4 * WARMUP, decay="noam") for step in steps]
    line = [PEAK * step / WARMUP for step in steps]
    places: tuple[choices.NormPlacement, ...] = ("post", "pre")
    gradients = {
        place: [state.gradient for state in lab.at_start(_run(Switches(layers=DEEP, norm_placement=place)))]
        for place in places
    }
    gaps = {warmup: [_by_heart(Switches(warmup=warmup), seed=seed) for seed in range(SEEDS)] for warmup in (8, 0)}
    at = [float(layer) for layer in range(DEEP)]
    picture = Lines(
        (
            Series(Both("Post-LN", "Post-LN"), at, gradients["post"]),
            Series(Both("Pre-LN", "Pre-LN"), at, gradients["pre"], dashed=True),
        ),
        x_title=Both("layer", "层"),
        y_title=Both("gradient before the first step", "第一步之前的梯度"),
        log_y=True,
    )
    return Measurement(
        {
            "bent": max(abs(a - b) for a, b in zip(rates, line, strict=True)) / PEAK,
            "post": gradients["post"][-1],
            "pre": gradients["pre"][-1],
            "gap": float(np.mean(gaps[8])),
            "gap_without": float(np.mean(gaps[0])),
            "gap_share": max(with_ / without for with_, without in zip(gaps[8], gaps[0], strict=True)),
        },
        picture,
    )


def _by_heart(switches: Switches, *, seed: int) -> float:
    """Train on the same 32 texts at every step: the loss on fresh texts less that on these, in nats a digit."""
    from models.training import lab
    from models.training.tiny import depth
    from models.training.tiny.puzzles import draw
    from models.training.tiny.solvers import solver

    run = replace(_run(switches, steps=80), seed=seed)
    texts = draw(run.task, length=run.length, count=BATCH, generator=torch.Generator().manual_seed(seed))
    network = solver(run)
    list(lab.train(network, run, on=texts))
    network.eval()
    with torch.inference_mode():
        fresh, learned = (
            float(depth.cross_entropy(network(each), each)) for each in (lab.fresh(run, count=256), texts)
        )
    return fresh - learned


def _with_and_without(subject: Subject, watch: Watch) -> Measurement:
    """Train eight post-norm layers with warm-up and without."""
    return _compared(_WARM_UP, watch, Both("with warm-up", "有预热"), Both("without", "无预热"))


def _compared(experiment: Experiment, watch: Watch, a: Both, b: Both) -> Measurement:
    """Train both sides from all seeds: mean accuracy on fresh texts over the seeds, and the curves of the loss."""
    courses = train_both(experiment, watch)
    right_a, right_b = ends(
        courses, lambda course: course.curve[-1].token_accuracy if course.diverged else _fresh_accuracy(course)
    )
    picture = courses_drawn(courses, (a, b), y_title=Both("loss, nats", "损失，nat"), log_y=True)
    return Measurement({"a": sum(right_a) / len(right_a), "b": sum(right_b) / len(right_b)}, picture)


def _fresh_accuracy(course: Any) -> float:
    from models.training import lab

    return lab.trial(course.network, course.run, times=1).token_accuracy


WARM_UP = Question(
    108,
    reads_text=False,
    asked=Both("Why is the learning rate warmed up?", "为什么要对学习率做预热（warm-up）？"),
    claim=Both(
        "The rate rises linearly at the beginning; that keeps training stable and avoids overfitting.",
        "训练初期学习率线性上升，使训练稳定，并避免过拟合。",
    ),
    parts=(
        ClaimPart(Both("The rate rises linearly.", "学习率线性上升。"), (at_most("bent", 1e-9),)),
        ClaimPart(
            Both(
                "Post-norm begins with larger gradients in the last layer than pre-norm, so the first steps must be "
                "small.",
                "训练开始时，Post-LN 最后一层的梯度比 Pre-LN 大，所以最初几步必须小。",
            ),
            (above("post", "pre"),),
        ),
        ClaimPart(
            Both(
                "It avoids overfitting: on 32 texts, read again and again, the gap to fresh texts is a tenth smaller "
                "with warm-up, or more.",
                "它能避免过拟合：反复读同样的 32 段文本，有预热时与新文本的差距至少小十分之一。",
            ),
            (below("gap_share", 0.9),),
        ),
    ),
    measure=lambda subject: subject.cached("warm-up", _warm_up),
    numbers={
        "bent": Label(
            Both("largest distance of the rising rate from a straight line", "学习率上升段与直线的最大偏差"), "%"
        ),
        "post": Label(Both("gradient of the last of 8 layers, post-norm", "8 层中最后一层的梯度，Post-LN")),
        "pre": Label(Both("gradient of the last of 8 layers, pre-norm", "8 层中最后一层的梯度，Pre-LN")),
        "gap": Label(
            Both("loss on fresh texts less that on the 32 texts, with warm-up", "新文本损失减 32 段文本的损失，有预热"),
            Both("nats", "nat"),
        ),
        "gap_without": Label(Both("the same, without warm-up", "同上，无预热"), Both("nats", "nat")),
        "gap_share": Label(
            Both("gap with warm-up / without, largest of the seeds", "差距之比：有预热 / 无预热，各种子最大"), "%"
        ),
    },
    setting=Both(
        "The paper's schedule (d = 512, 4,000 steps of warm-up). Gradients: the Lab's Transformer with 8 layers "
        "before the first step, seed 0. Gap: 2 layers learn to write 4 digits in reverse, 80 steps on the same 32 "
        "texts, with 8 steps of warm-up and without, 2 seeds.",
        "原论文的学习率公式（d = 512，预热 4000 步）。梯度：Lab 的 8 层 Transformer，第一步之前，种子 0。差距："
        "2 层网络学习把 4 个数字倒过来，在同样的 32 段文本上训练 80 步，预热 8 步或不预热，2 个种子。",
    ),
    because=Both(
        "Adam divides by an estimate of the gradient's size, which comes from few steps at first and is unsure (Liu "
        "et al. 2020); and post-norm has large gradients near the output (Xiong et al. 2020). Both are about the "
        "first steps. Overfitting is about the last: few texts are learned by heart with warm-up as without.",
        "Adam 要除以梯度大小的估计，起初步数少，估计方差大（Liu 等人，2020）；Post-LN 靠近输出处梯度大（Xiong 等人，"
        "2020）。两者都是训练初期的问题。过拟合是后期的问题：文本少时，有没有预热都会背下来。",
    ),
    refuted=Both(
        "Trainings on few texts whose gap to fresh texts is clearly smaller with warm-up, for every seed.",
        "如果在少量文本上训练时，有预热的网络与新文本的差距明显更小，而且每个种子都如此，判断就会改变。",
    ),
    formula=r"\eta_t = \eta \frac{t}{w}, \qquad |\nabla W_L|: \; <post> \;(\mathrm{Post}), \; <pre> \;(\mathrm{Pre})",
    papers=(VASWANI_2017, LIU_2020, XIONG_2020),
    see=PageLink(
        "lab",
        {
            "lab_steps": "200",
            "lab_rate": "0.01",
            "lab_a_layers": "8",
            "lab_b_layers": "8",
            "lab_b_warmup": "0",
            "lab_b_positions": "sinusoidal",
        },
    ),
    whole=LongExperiment(
        run=_with_and_without,
        about=Both(
            "The Lab's Transformer with 8 post-norm layers learns to write 8 digits in reverse, 200 steps at a rate "
            "of 0.01, with a warm-up of 20 steps and without, seed 0; about half a minute on one core.",
            "Lab 的 8 层 Post-LN Transformer 学习把 8 个数字倒过来，200 步，学习率 0.01，预热 20 步与不预热，种子 0；"
            "单核约半分钟。",
        ),
        parts=(
            ClaimPart(Both("With warm-up it learns.", "有预热时能学会。"), (above("a", 0.9),)),
            ClaimPart(
                Both("Without, it does no better than guessing.", "没有预热时与乱猜差不多。"), (below("b", GUESSED),)
            ),
        ),
        numbers={
            "a": Label(Both("digits right with warm-up", "有预热时的正确率"), "%"),
            "b": Label(Both("digits right without warm-up", "无预热时的正确率"), "%"),
        },
        stored=StoredRun(
            {"a": 1.0, "b": 0.109},
            command="python -m inspector.questions --only 108 --whole",
            seeds="0",
            date="2026-11-23",
        ),
    ),
)


# --- 111: the rate, and dropout ------------------------------------------------------------------------------------


def _rate_and_dropout() -> Measurement:
    from models.training import lab
    from models.training.tiny.solvers import solver

    steps = (1, 1000, 2000, 4000, 8000, 16000, 40000)
    rates = [learning_rate(step, highest=PEAK, warmup=WARMUP, steps=steps[-1], decay="noam") for step in steps]
    generator = torch.random.get_rng_state()
    torch.manual_seed(0)
    try:
        dropped = nn.Dropout(0.1)(torch.ones(100_000))
        run = _run(Switches(dropout=0.1))
        network, texts = solver(run), lab.fresh(run, count=4)

        def apart() -> float:
            with torch.inference_mode():
                once, again = (_scores(network(texts)) for _ in range(2))
            return float((once - again).abs().max())

        network.train()
        training = apart()
        network.eval()
        testing = apart()
    finally:
        torch.random.set_rng_state(generator)
    picture = Lines(
        (Series(Both("learning rate", "学习率"), list(steps), rates),),
        x_title=Both("step", "训练步数"),
        y_title=Both("learning rate", "学习率"),
        log_x=True,
        log_y=True,
        mark_x=float(WARMUP),
    )
    return Measurement(
        {
            "peak": max(rates),
            "later": rates[-1] / max(rates),
            "zero": float((dropped == 0).float().mean()),
            "kept": float(dropped.max()),
            "training": training,
            "testing": testing,
        },
        picture,
    )


def _scores(logits: Tensor) -> Tensor:
    return logits.float()


RATE = Question(
    111,
    reads_text=False,
    asked=Both(
        "How is the learning rate set, where does dropout stand, and what of testing?",
        "Transformer 训练时学习率怎么设？Dropout 加在哪里，测试时呢？",
    ),
    claim=Both(
        "The rate rises for 4,000 steps and then falls with the root of the step; dropout of 0.1 on what each "
        "sublayer gives and on the embeddings, off in testing.",
        "学习率先线性升 4000 步，再与步数的平方根成反比下降；每个子层输出和嵌入上用 0.1 的 Dropout，测试时关闭。",
    ),
    parts=(
        ClaimPart(
            Both("The largest rate at d = 512 is 0.0007.", "d = 512 时学习率最大约 0.0007。"),
            (near("peak", 0.000699, within=0.001),),
        ),
        ClaimPart(
            Both("Ten times the steps, and it is divided by √10.", "步数变为 10 倍，学习率除以 √10。"),
            (near("later", 1 / math.sqrt(10), within=0.001),),
        ),
        ClaimPart(
            Both(
                "One number in ten becomes 0, and the others are divided by 0.9.", "十分之一的数变为 0，其余除以 0.9。"
            ),
            (around("zero", 0.1, within=0.005), near("kept", 1 / 0.9, within=0.001)),
        ),
        ClaimPart(
            Both("In training two runs differ, in testing they do not.", "训练时两次前向结果不同，测试时相同。"),
            (above("training", 0), equal("testing", 0)),
        ),
    ),
    measure=lambda subject: subject.cached("rate and dropout", _rate_and_dropout),
    numbers={
        "peak": Label(Both("largest learning rate", "最大学习率")),
        "later": Label(
            Both("learning rate at step 40,000, relative to the largest", "第 40000 步的学习率，相对最大学习率")
        ),
        "zero": Label(Both("numbers that dropout sets to 0", "被 Dropout 置零的比例"), "%"),
        "kept": Label(Both("factor of the numbers that dropout keeps", "未被 Dropout 置零的数所乘的系数")),
        "training": Label(Both("difference of two runs in training, largest", "训练模式两次前向的最大差")),
        "testing": Label(Both("difference of two runs in testing, largest", "测试模式两次前向的最大差")),
    },
    setting=Both(
        "The schedule that trains this project's models, at the paper's numbers; 100,000 ones through dropout of 0.1, "
        "seed 0; and the Lab's Transformer with random weights and dropout on sublayers and embeddings.",
        "本项目训练模型所用的学习率函数，取原论文的参数；100000 个 1 通过 0.1 的 Dropout，种子 0；"
        "以及 Lab 的随机权重 Transformer，Dropout 加在子层输出和嵌入上。",
    ),
    because=Both(
        "The question is mostly asked and seldom answered with numbers. To divide by 0.9 in training keeps the mean, "
        "so that nothing has to be changed in testing.",
        "这个问题常被问到，却很少有人给出数字。训练时除以 0.9 保持均值不变，所以测试时不用再做任何调整。",
    ),
    refuted=Both(
        "A network in evaluation mode that gives two results for one text.",
        "如果网络在测试模式下对同一文本给出两个结果，判断就会改变。",
    ),
    formula=r"\eta_t = d^{-1/2} \min(t^{-1/2}, \, t \, w^{-3/2}), \quad \max \eta = <peak>, \qquad \frac{1}{1 - "
    r"p} = <kept>",
    papers=(VASWANI_2017, SRIVASTAVA_2014),
    see=PageLink("lab", {"lab_b_dropout": "0.1", "lab_b_positions": "sinusoidal"}),
)


# --- 113: word vectors ---------------------------------------------------------------------------------------------


def _misplaced(network: nn.Module) -> None:
    """Give each word of the task the vector of another word, drawn with seed 0."""
    table = network.get_parameter("encoder.embedding.token.weight")
    order = torch.randperm(len(WORDS), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        table[: len(WORDS)] = table[order].clone()


def _word_vectors() -> Measurement:
    from models.training import lab
    from models.training.tiny.solvers import solver

    curves, unseen, seen = {}, {}, {}
    sides: tuple[tuple[str, Embeddings], ...] = (("random", "random"), ("taken", "frozen"), ("moved", "frozen"))
    for side, embeddings in sides:
        switches = Switches(embeddings=embeddings)
        run = LabRun(task="kinds", length=8, steps=KINDS_STEPS, learning_rate=0.002, switches=switches, seed=0)
        network = solver(run)
        if side == "moved":
            _misplaced(network)
        curves[side] = list(lab.train(network, run))
        seen[side] = curves[side][-1].token_accuracy
        unseen[side] = lab.trial(network, run, times=1).token_accuracy
    names = {"random": Both("random", "随机初始化"), "taken": Both("pretrained", "预训练")}
    picture = Lines(
        tuple(
            Series(
                name,
                [report.step for report in curves[side]],
                [report.token_accuracy for report in curves[side]],
                dashed=side == "random",
            )
            for side, name in names.items()
        ),
        x_title=Both("step", "训练步数"),
        y_title=Both("words right, of those that are trained", "训练用词的正确率"),
    )
    return Measurement(
        {
            "seen_random": seen["random"],
            "seen_taken": seen["taken"],
            "unseen_random": unseen["random"],
            "unseen_taken": unseen["taken"],
            "unseen_moved": unseen["moved"],
        },
        picture,
    )


def _both_embeddings(subject: Subject, watch: Watch) -> Measurement:
    """Train with random and with mini-bert's embeddings, from three seeds each."""
    return _compared(_TAKEN, watch, Both("random", "随机初始化"), Both("pretrained", "预训练"))


WORD_VECTORS = Question(
    113,
    reads_text=False,
    asked=Both("Can a Transformer start from pretrained word vectors?", "Transformer 可以用预训练词向量初始化吗？"),
    claim=Both(
        "It can, and it is not always better: it helps where there is little to learn from.",
        "可以，但不一定更好：数据少时帮助大。",
    ),
    parts=(
        ClaimPart(
            Both("The network learns with pretrained vectors.", "用预训练词向量也能学会。"), (above("seen_taken", 0.8),)
        ),
        ClaimPart(
            Both("On words that are trained, random ones are as good.", "对训练中出现的词，随机初始化一样好。"),
            (at_least("seen_random", "seen_taken", times=0.95),),
        ),
        ClaimPart(
            Both(
                "On words that no training saw pretrained vectors help.", "对训练中没有出现的词，预训练词向量有帮助。"
            ),
            (above("unseen_taken", "unseen_random"),),
        ),
        ClaimPart(
            Both(
                "It is their meaning that helps: the same vectors, each given to another word, do half as well.",
                "起作用的是词向量的含义：把同样的向量换给别的词，效果不到一半。",
            ),
            (at_most("unseen_moved", "unseen_taken", times=0.5),),
            role="mechanism",
        ),
    ),
    measure=lambda subject: subject.cached("word vectors", _word_vectors),
    numbers={
        "seen_random": Label(
            Both("trained words right, random vectors", "训练过的词的正确率，随机初始化的词向量"), "%"
        ),
        "seen_taken": Label(Both("trained words right, pretrained vectors", "训练过的词的正确率，预训练词向量"), "%"),
        "unseen_random": Label(Both("unseen words right, random vectors", "未见词的正确率，随机初始化的词向量"), "%"),
        "unseen_taken": Label(Both("unseen words right, pretrained vectors", "未见词的正确率，预训练词向量"), "%"),
        "unseen_moved": Label(
            Both("unseen words right, pretrained vectors of other words", "未见词的正确率，预训练词向量换给别的词"), "%"
        ),
    },
    setting=Both(
        f"The Lab's Transformer tells the kind of a word, of ten, {KINDS_STEPS} steps, seed 0: with random vectors "
        "and with mini-bert's, which are not trained further, each at its word or at another one. A third of the words "
        "is held out. A small case: ten kinds that are plain to see, and vectors of a model trained here.",
        f"Lab 的 Transformer 判断一个词属于十类中的哪一类，{KINDS_STEPS} 步，种子 0：随机词向量与 mini-bert 的词向量"
        "（不再训练），向量给原来的词或换给别的词。三分之一的词不参与训练。"
        "这是个小例子：十个类别界限分明，词向量来自本项目训练的模型。",
    ),
    because=Both(
        "Vectors that were trained elsewhere put like words side by side, which is all that is known of a word "
        "without examples. With enough examples training finds the same by itself.",
        "在别处训练好的词向量把相近的词放在一起，对没有训练样本的词，这是唯一的信息。样本足够多时，训练自己就能学到。",
    ),
    refuted=Both(
        "A task with many examples of every word on which pretrained vectors win, or one with few on which they lose.",
        "如果每个词都有很多样本时预训练词向量仍占优，或者样本很少时反而更差，判断就会改变。",
    ),
    formula=r"a_{seen}: \; <seen_random>, <seen_taken> \qquad a_{unseen}: \; <unseen_random>, <unseen_taken>",
    papers=(QI_2018,),
    see=PageLink("lab", {"lab_task": "kinds", "lab_steps": "100", "lab_b_embeddings": "frozen"}),
    whole=LongExperiment(
        run=_both_embeddings,
        about=Both(
            "The same task, 100 steps, from three seeds each; about half a minute on one core.",
            "同一任务，100 步，各用三个种子；单核约半分钟。",
        ),
        parts=(
            ClaimPart(
                Both("On unseen words pretrained vectors are better.", "对未见词，预训练词向量更好。"),
                (
                    above(
                        "b",
                        "a",
                    ),
                ),
            ),
        ),
        numbers={
            "a": Label(Both("unseen words right, random vectors", "未见词的正确率，随机初始化的词向量"), "%"),
            "b": Label(Both("unseen words right, pretrained vectors", "未见词的正确率，预训练词向量"), "%"),
        },
        stored=StoredRun(
            {"a": 0.135, "b": 0.905},
            command="python -m inspector.questions --only 113 --whole",
            seeds="0, 1, 2",
            date="2026-11-23",
        ),
    ),
)


THEME = Theme("learning", Both("Training", "训练"), (WARM_UP, RATE, WORD_VECTORS))
