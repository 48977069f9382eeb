"""Words of the frame around every page, in Chinese; inspector/wording/english/shell.py has the same names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from models.formatting import format_bytes

if TYPE_CHECKING:
    from models.loaded import Card

OTHER_LANGUAGE, OTHER_LANGUAGE_HELP = "English", "用英文显示"
ENGLISH_ALONE = "（正文为英文）"
"""The words behind a page's purpose where its content is not in the reader's language."""

# --- the sidebar ------------------------------------------------------------------------------------------------------

TRACE_IS_OPEN = "正在显示存档记录。要重新读取文本，请移除下面的文件。链接不能包含文件。"
OPEN_TRACE = "打开存档记录"
TRACE_FILE, TRACE_FILE_HELP = "以 .npz 保存的记录", "在这里保存，或用 inspector.save(trace, path) 保存。"
THAT_OF_TRACE = "存档记录所用的模型"
ANOTHER_MODEL = "其他模型"
INSPECT = "检视"
EXAMPLES = "示例"
TEXT, TEXT_HINT = "文本", "粘贴一句话"
SECOND_TEXT, SECOND_TEXT_HINT = "第二段文本（可选）", "与第一段一起读的句子"
TARGET, TARGET_HINT = "目标文本（可选）", "留空则由模型自己写"
WRITE_REPORT, SAVE_REPORT = "生成报告", "保存报告"
REPORT_HELP = "把各页对这段文本的全部内容写进一个 HTML 文件（英文），可以保存、发送或打印；离线可读"

# --- another model ----------------------------------------------------------------------------------------------------

NAME, NAME_OR_FOLDER = "Hugging Face 上的名称", "Hugging Face 上的名称，或文件夹"
LOOK, LOOKING = "查看", "正在查看"
LOAD, STOP, STARTING = "加载", "停止", "开始"
LOADING_TAKES_SECONDS = "正在加载，需要几秒钟"
ON_THIS_MACHINE = "本机已有的模型"
FETCHING_STOPPED = "已停止。下载好的文件会保留；点“加载”继续。"
CANNOT_BE_LOADED = "无法加载"

# --- all else ---------------------------------------------------------------------------------------------------------

CANNOT_BE_SHOWN = "无法显示"
THIS_PAGE = "本页"
DISMISS = "知道了"
NONE = "无"
COLON, STOP_MARK, SPACE = "：", "。", ""
"""Marks between what is put together: a name and what it is, a heading and its sentence, two sentences."""

HUB_NAME, HUB_NAME_OR_FOLDER = "org/name 或 org/name@revision", "org/name，或文件夹"
KNOWN_LATER = "加载之后才知道如何观察它的注意力。"
MODEL = "模型"
NOT_AT_HAND = "这份存档所用的模型不在本机"
READS_NO_OTHER = "不能读取其他文本；请把这一栏的文本留空，或换一个模型"
RECORD_TO_SEE = "请用模型记录这段文本后再看。"
ON_YOUR_TEXT = " 在你的文本上的结果"
ENGLISH_EXAMPLE = " 在它自己的示例上的结果：它学的是英文，你的文本会保留"
OWN_EXAMPLE = " 在它自己的示例上的结果"
REMOVE_FIRST = "请先在侧边栏移除存档记录。"
FOR_ALL = "对所有页面生效；你的文本会保留。"
EXAMPLE = "这是一个示例，换模型时会换成那个模型的示例。你自己的文本会保留。"
LIMITS_OF_EXAMPLES = {
    "Facts": "它会接着写意大利（Italy）。很少有人写到的事，它会同样流畅地编造。",
    "Who gets it?": "它会接着写 Mary。在“假如”页把第二个 John 换成 Mary，它就接着写 John。它能跟住人名，"
    "故事长了就会跟丢。",
    "An opposite": "它会接着写 cold。换成“hot 对 cold 就如 big 对什么”这样的谜题，它就答不上来。",
    "A language": "它会接着写 French。换成其他国家也行，只是把握小一些。",
    "A line of code": "它会接着写 a + b。程序长了会写错，它也不运行任何代码。",
    "A dialogue": "这是它训练时用的模板。众所周知的事它答得出，推理则很差。",
}
"""Limits of a model, by the names of the examples that are for it."""
READING = "正在读取文本"
LOADING = "正在加载模型"
NOTHING_TO_READ = "文本是空的。请输入或粘贴一句话，或用这一句："
READING_FIRST = "模型正在读取文本（第一次要加载 PyTorch，需要几秒钟）"
TEXT_IS_KEPT = "文本会保留：请修改文本，或换一个模型。"
STOPPED = "已停止"
KEPT = "你的文本和已完成的部分都会保留；点“检视”继续。"
UNTRAINED_AT_PICTURE = "未训练：这个模型的权重是随机的，显示的内容没有意义。"
NEW_STATISTICS = "BatchNorm 的均值和方差取自侧边栏的文本，一次算出：换一段文本，就是另一个模型。"
WITH_NEW_STATISTICS = "，统计量取自你的文本"
THEN_CHANGED = "，之后被改动"
UNTRAINED, UNTRAINED_HELP = "未训练", "权重是随机的，这些图没有意义。"
LOOKS_UNTRAINED = "看起来未经训练"
HEADS_BY_CHANCE = "在这段文本上，每个头分配注意力的方式都与随机权重无异。"
NORMS_AS_DRAWN = (
    "它的每个归一化层在所有维度上增益相同，偏置精确为 0：随机权重开始时就是这样，训练会改变它们。"
    "（若把增益并入其他权重，模型看起来也会这样。）"
)

BACKENDS = {
    "own": "这是本项目自建的 Transformer，它的注意力直接交出查询、键和值。",
    "probe": "由 transformers 库运行模型，并交出每个注意力的查询、键和值。",
    "eager output": "由 transformers 库运行模型；记下注意力中 softmax 的输入，再由它重新算出注意力图。",
}
KEEPS_MAPS = "由 transformers 库运行模型；记下注意力中 softmax 的输出，占用的内存随文本长度的平方增长。"


def looking(*, hub: bool, hub_variable: str, no_folders: bool, root_variable: str) -> str:
    """Say what Look reads, and what is off here; hub_variable, root_variable: the variables that switch it on."""
    return (
        "查看时只读取它的配置，不读取权重。"
        + ("" if hub else f"这里没有开放 Hugging Face（{hub_variable}）。")
        + (f"这里没有开放本地文件夹（{root_variable}）。" if no_folders else "")
    )


def candidate(*, name: str, commit: str | None) -> str:
    """Name a model that was found, with the commit."""
    return f"{name}{'' if commit is None else f'，版本 {commit[:10]}'}"


def name_help(*, folders: str) -> str:
    """Say which names can be looked for; folders: where folders can be."""
    return f"org/name，例如 google-bert/bert-base-cased，或 org/name@revision{folders}。"


def folders(root: str) -> str:
    """Say which folders can be named; root: where they lie, "" where strangers share the page."""
    return f"，或 {root} 下的文件夹" if root else "，或这台服务器上的文件夹名"


def parameters(*, count: int, limit: int) -> str:
    """Count the parameters beside the limit."""
    return f"参数量：{count:,}（上限 {limit:,}）"


def attention_layers(*, count: int, limit: int) -> str:
    """Count the layers of attention beside the limit."""
    return f"注意力层：{count}（上限 {limit}）"


def download(*, size: int, limit: int) -> str:
    """Give the size of the download beside the limit."""
    return f"下载：{format_bytes(size)}（上限 {format_bytes(limit)}）"


def memory(*, size: int, dtype: str, limit: int) -> str:
    """Give the memory for the weights beside the limit."""
    return f"权重占用的内存：{format_bytes(size)}，{dtype}（上限 {format_bytes(limit)}）"


def recording(*, size: int, limit: int, tokens: int) -> str:
    """Give the size of a recording beside the limit."""
    return (
        f"记录你的文本：至多 {format_bytes(size)}（上限 {format_bytes(limit)}）；更长的文本至多记录 {tokens:,} 个 token"
    )


def recording_maps(*, size: int, tokens: int) -> str:
    """Give the size of a recording that keeps its maps."""
    return f"若注意力图不能重新算出而要保存：{format_bytes(size)}，至多 {tokens:,} 个 token"


def so_you_see(*, model: str, chosen: str | None, cannot: str, whose: str) -> str:
    """Say which model is seen and why.

    chosen: the reader's, None where that is not at hand; cannot: what it does not do, which is said in English alone;
    whose: the text that is read.
    """
    why = NOT_AT_HAND if chosen is None else f"{chosen} 做不到这一页所需的事"
    return f"{why}，因此显示的是 {model}{whose}。"


def choose(*, model: str) -> str:
    """Name the button that chooses the model."""
    return f"改用 {model}"


def variant_summary(*, model: str) -> str:
    """Say what a model under other switches is."""
    return f"自建 Transformer 中 {model} 的权重，开关有改动。"


def not_kept(*, size: int, most: int) -> str:
    """Say what it means that a recording is larger than the whole cache."""
    return (
        f"这份记录占用 {format_bytes(size)}，超过 HEADLIGHT_CACHE_MB 规定的 {format_bytes(most)}："
        "它不会保存，每次点击都要重新读取文本。请缩短文本，或调高上限。"
    )


def of_saved_trace(*, model: str) -> str:
    """Name the model of a saved trace."""
    return f"{model}（存档记录）"


def only_given(*, so: str) -> str:
    """Say that a saved trace holds given weights alone; so: what that means for the page, said in English alone."""
    return f"这里只有给定的注意力权重，没有模型，因此无法显示。{RECORD_TO_SEE}"


def model_not_at_hand(*, model: str, so: str) -> str:
    """Say that a saved trace came without its model; so: what that means for the page, said in English alone."""
    return f"这份存档所用的模型 {model} 不在本机，因此无法显示。"


def offered(note: str) -> str:
    """Offer the model that the page would open with; note: a sentence in English, with the command that fetches it."""
    command = note.split("`")[1] if note.count("`") > 1 else ""
    how = f"可用 `{command}` 获取" if command else "可以获取"
    return f"默认模型尚未下载，现在用 mini-BERT 代替。{how}，完成后请重新打开本页。"


# --- names and cards --------------------------------------------------------------------------------------------------

_MODELS = {
    "MiniLM, the bundled BERT": "MiniLM，内置的 BERT",
    "MiniLM in the own Transformer": "自建 Transformer 中的 MiniLM",
    "Translator, English to Chinese": "英译中翻译模型",
    "Translator": "英译中翻译模型",
    "mini-BERT, trained here": "mini-BERT，本项目训练",
    "mini-BERT for Chinese": "中文 mini-BERT",
    "mini-GPT, trained here": "mini-GPT，本项目训练",
    "SmolLM2, which writes": "SmolLM2-135M，真正的语言模型",
    "SmolLM2 in the own Transformer": "自建 Transformer 中的 SmolLM2",
    "Untrained encoder": "未训练的编码器",
    "Untrained decoder": "未训练的解码器",
    "Untrained encoder-decoder": "未训练的编码器-解码器",
}
"""The models of the catalogue by their English names, whole and in a sentence."""
_SUMMARIES = {
    "minilm": "真正的预训练 BERT 编码器（all-MiniLM-L6-v2：6 层，12 个头，宽度 384），由 transformers 库运行。",
    "minilm-own": "同样的权重放进本项目自建的 Transformer：同样的文本，同样的隐藏状态，同样的注意力。",
    "smollm2": "Hugging Face 的真正语言模型（SmolLM2-135M-Instruct：30 层，9 个头共用 3 个 KV 头，宽度 576），由 "
    "transformers 库运行，占用 {memory} 内存。权重为 4 位，因此所有数值都属于量化后的模型。它的英文写得好，也知道常识；"
    "计数和推理很差，说错时与说对时一样流畅。",
    "smollm2-own": "同样的权重放进本项目自建的 Transformer：同样的文本，同样的注意力，同样的续写。占用 {memory} 内存，"
    "加载时还要再占这么多。",
    "translator": "自建的编码器-解码器（3 + 3 层，6 个头，宽度 192），本项目用 25,669 个短句训练："
    "可以看到三种注意力流。",
    "mini-bert": "自建的编码器（4 层，6 个头，宽度 192，旋转位置编码），本项目用公版小说和英文句子训练成掩码语言模型："
    "它猜被遮住的词。",
    "mini-bert-zh": "自建的编码器（4 层，6 个头，宽度 192，旋转位置编码），本项目用古典小说和现代短句的汉字训练成"
    "掩码语言模型：它猜被遮住的字。",
    "mini-gpt": "自建的解码器（4 层，6 个头共用 2 个 KV 头，宽度 192，旋转位置编码，RMSNorm，SwiGLU），本项目用"
    "公版小说和英文句子训练：它会续写，并有归纳头。",
    "own-encoder": "本项目自建的 Transformer 编码器（2 层，4 个头，宽度 64），权重随机：未训练。",
    "own-decoder": "自建的解码器，如 GPT（2 层，4 个头，宽度 64），因果掩码，权重随机：未训练。",
    "own-encoder-decoder": "自建的编码器-解码器（2 + 2 层，4 个头，宽度 64），权重随机：未训练，写出的内容没有意义，"
    "但能看到三种注意力流。",
}
"""Summaries of the catalogue's cards by the models' ids."""
_EXAMPLES = {
    "Who was tired?": "谁累了？",
    "One word, two meanings": "一词两义",
    "Word pieces": "词的切分",
    "Repetition": "重复",
    "A longer paragraph": "较长的一段",
    "Two sentences": "两个句子",
    "Easy to guess": "容易猜的词",
    "To translate": "用来翻译",
    "To write on": "用来续写",
    "Facts": "常识",
    "In Chinese": "中文",
    "Who gets it?": "给了谁？",
    "An opposite": "反义词",
    "A language": "一种语言",
    "A line of code": "一行代码",
    "A dialogue": "一段对话",
}
_FLOAT = 4  # bytes of a number


def model(name: str) -> str:
    """Name a model, given its English name; a name of the reader's stays."""
    return _MODELS.get(name, name)


def with_switches(name: str, changes: str) -> str:
    """Name a model under changed switches in a sentence."""
    return f"{name}（{changes}）"


def of_side(name: str, side: str, changes: str) -> str:
    """Name a model under changed switches by its side."""
    return f"{name}，{side}：{changes}"


def summary(card: Card) -> str:
    """Say in some lines what a model is, before it is chosen."""
    base, switched, _ = card.id.partition("?")
    if base not in _SUMMARIES:
        return f"由 transformers 库运行的模型：{card.title}"
    if switched:
        return variant_summary(model=model(card.title.partition(":")[0]))
    return _SUMMARIES[base].format(memory=format_bytes(_FLOAT * card.parameters))


def example(name: str) -> str:
    """Name an example, given its English name."""
    return _EXAMPLES[name]


def tokenizer(file: str | None) -> str:
    """Name the file of a model's tokenizer, None for a model without."""
    return f"分词器：{'无' if file is None else f'`{file}`'}"


# --- progress ---------------------------------------------------------------------------------------------------------

_WORKS = {
    "Reading the text": READING,
    "Independent check": "正在独立核对",
    "Measuring the heads": "正在测量各个头",
    "Drawing the heads": "正在绘制各个头",
}


def fetched(*, done: int, of: int) -> str:
    """Say how much of a download is here."""
    return f"已下载 {format_bytes(done)}，共 {format_bytes(of)}"


def step(work: str, *, unit: str, number: int, of: int) -> str:
    """Say how far a work is, given its English name; unit: what is counted, in English."""
    counter = "层" if unit == "layer" else "步"
    return f"{_WORKS.get(work, '正在计算')}：第 {number} {counter}，共 {of} {counter}"


def starting(model: str) -> str:
    """Say that the server has just started, and what it loads."""
    return f"正在加载 PyTorch 和 {model}：服务器刚刚启动，需要几秒钟"


def writing_report(*, done: int, sections: int) -> str:
    """Say how far the report is."""
    return f"正在生成报告：第 {min(done + 1, sections)} 节，共 {sections} 节"


# --- the link ---------------------------------------------------------------------------------------------------------


def too_long_for_link(*, characters: int, most: int) -> str:
    """Say that the texts are left out of the link."""
    return f"链接能恢复视图，但不含文本：文本有 {characters:,} 个字符，链接最多容纳 {most:,} 个。"


def asks_for_model(*, model: str, instead: str) -> str:
    """Say that a link names a model that is not in the list."""
    return (
        f"链接要求的模型 {model} 不在列表中，没有加载，现在显示的是 {instead}。要了解它需要多少资源并加载它，"
        f"请在侧边栏的“{ANOTHER_MODEL}”中点“{LOOK}”。"
    )


def asks_for(*, name: str, values: Sequence[str], but: str) -> str:
    """Say that a link asks for what there is not; but: the end of the sentence, which says what there is."""
    return f"链接中的 {name} 为 {'、'.join(values)}{but}"


def out_of_range(*, first: object, last: object, but: str, shown: object) -> str:
    """Say which values there are; but: what else they must be, said in English alone; shown: what is shown instead."""
    return f"，取值范围是 {first} 到 {last}。现在显示的是 {shown}。"


def one_of(*, options: Sequence[str], shown: str) -> str:
    """Say which options there are; those of English pages are in English, and left out."""
    return f"，没有这个选项。现在显示的是 {shown}。"


def some_of(*, options: Sequence[str], but: str) -> str:
    """Say which words there are; but: said in place of the options in English alone."""
    return "，没有这个选项。现在显示全部。"


def true_or_false(*, shown: str) -> str:
    """Say that a switch is on or off."""
    return f"，它只能是 true 或 false。现在显示的是 {shown}。"


def at_most(*, characters: int, shown: str) -> str:
    """Say how long a text can be."""
    return f"，最多 {characters} 个字符。现在显示的是 {shown}。"


def other_layers(*, layers: Sequence[int], said: Callable[[Sequence[int]], str], shown: int) -> str:
    """Say which layers there are; said: says so in English."""
    return f"，可选的层有 {'、'.join(map(str, layers))}。现在显示的是 {shown}。"


NO_OPTION = "，没有这个选项。现在显示全部。"


def cannot_be_built(*, side: str, problem: str, model: str) -> str:
    """Say that the switches of a link do not fit; problem: in English."""
    return f"链接为 {side} 侧设定的开关无法组成模型（{problem}）。现在显示的是原样的 {model}。"


def back_to_lesson(title: str, step: int, of: int) -> str:
    """Label the way back to the open lesson."""
    return f"回到课程：{title}，第 {step} 步，共 {of} 步"
