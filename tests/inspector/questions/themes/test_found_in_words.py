"""Questions 133 to 136 and 143 on MiniLM and the page's example, or on the model that stands in."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import models
from inspector.probe import record
from inspector.questions import Subject, asking
from inspector.questions.themes import found_in_words
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme

THEME = of_theme("found_in_words")


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_133_single_heads_find_nouns_and_verbs_but_not_nine_in_ten(answer: Ask):
    found = answer(133)
    assert (found.verdict, found.held) == ("partly", (True, True, False))
    # Clark et al. 2019, BERT-base: 94.3 % and 86.8 %, by fixed distances 51.7 % and 40.0 %.
    assert 0.6 < found.numbers["noun"] < 0.9
    assert 0.6 < found.numbers["verb"] < 0.9
    assert max(found.numbers["noun_fixed"], found.numbers["verb_fixed"]) < 0.5


def test_marks_lead_from_determiners_to_nouns_and_from_objects_to_verbs():
    sentences = found_in_words._syntax()
    pairs = [(one.words[start], one.words[end]) for one in sentences for start, end in one.pairs]
    determiners = [(word, noun) for word, noun in pairs if word.lower() in ("the", "a", "an")]
    assert (len(determiners), len(pairs)) == (47, 73)
    assert pairs[:3] == [("The", "dog"), ("a", "cat"), ("cat", "chased")]
    assert not {noun for _, noun in determiners} & {"the", "."}
    references = found_in_words._references()
    assert {one.words[one.pronoun] for one in references} == {"he", "she", "it", "they"}
    assert all(one.meant in one.nouns and max(one.nouns) < one.pronoun for one in references)


def test_words_get_the_sum_over_a_keys_pieces_and_the_mean_over_a_querys():
    loaded = models.load("minilm")
    words = ("Antidisestablishmentarianism", "stories", ".")
    trace = record(loaded, "Antidisestablishmentarianism stories.")
    found = found_in_words._between_words(trace, words)[13]  # layer 1, head 1
    weights = trace.attention(layer=1, head=1)
    first = [at for at, word in enumerate(trace.words) if word == 0]
    assert len(first) > 1
    assert found[0, 1] == pytest.approx(np.mean([weights[at, first[-1] + 1] for at in first]), rel=1e-6)
    assert found[1, 0] == pytest.approx(sum(weights[first[-1] + 1, at] for at in first), rel=1e-6)


def test_134_a_head_of_minilm_finds_the_noun_that_a_pronoun_means(answer: Ask):
    found = answer(134)
    assert found.verdict == "true"
    assert found.numbers["head"] > 0.8  # Clark et al. 2019: 65.1 % on the much longer texts of CoNLL
    assert found.numbers["nearest"] == 0.5


def test_135_cross_attention_aligns_mostly_and_two_layers_cannot_be_told_apart(answer: Ask):
    found = answer(135)
    assert (found.verdict, found.held, found.measured_on) == ("partly", (True, False, False), "translator")
    assert found.numbers["diagonal"] < 0.5 < 0.6 < found.numbers["head"] < 0.9
    assert found.numbers["head"] < found.numbers["other_layer"] < found.numbers["before_last"]  # means of heads
    assert found.numbers["reading"] < 0.2  # the row that predicts a token aligns, not the one that reads it


def test_136_no_head_rests_on_the_rarest_token_of_all_sentences(answer: Ask):
    found = answer(136)
    assert (found.verdict, found.held) == ("partly", (False, True, True))
    assert found.numbers["best_most"] < 0.5 < found.numbers["own"]  # 66 % in Voita et al. 2019


def test_the_rarest_of_a_decoder_is_the_rarest_so_far():
    trace = record(models.load("mini-gpt"), "The cat sat on the mat.")
    shares, _ = found_in_words._pointing(trace, causal=True)
    ids = np.array(trace.encoding.ids)[1:]
    rows = [row for row in range(len(ids)) if ids[row] != ids[: row + 1].max()]
    weights = trace.attention(layer=0, head=0)[1:, 1:]
    right = [ids[weights[row].argmax()] == ids[: row + 1].max() for row in rows]
    assert shares[0] == pytest.approx(np.mean(right))


def test_143_shuffled_a_sentence_keeps_its_vector_and_loses_its_words(answer: Ask):
    found = answer(143)
    assert (found.verdict, found.held, found.measured_on) == ("partly", (True, False, False), "mini-bert")
    assert found.numbers["ordered"] < found.numbers["blank"] < found.numbers["shuffled"]
    assert found.numbers["other"] < found.numbers["vector"] < 1


def test_surprises_are_those_of_the_mask_among_its_neighbours():
    loaded, text = models.load("mini-bert"), "He shook his head."
    subject = Subject(loaded, text)
    found = found_in_words._surprises(subject)
    ids = torch.tensor([subject.trace.encoding.ids])
    true = int(ids[0, 2])
    ids[0, 2] = loaded.tokenizer.mask_token_id
    assert loaded.predict is not None
    with torch.inference_mode():
        hidden = loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))
        logits = loaded.predict(hidden)[0, 2]
    assert found[1, 0] == pytest.approx(-logits.log_softmax(-1)[true].item(), rel=1e-3)


@pytest.mark.parametrize("model", ["mini-gpt", "mini-bert-zh", "own-encoder-decoder"])
@pytest.mark.parametrize("text", ["Yes", "the the the the", "我昨天买了一本新书。"])
@pytest.mark.heavy
def test_another_model_gets_an_answer_or_a_sentence(model: str, text: str):
    subject = Subject(models.load(model), text)
    for question in THEME.questions:
        found = asking.ask(question, subject)
        if found.verdict is None:
            assert found.problem is not None
            assert found.problem.en.endswith(".")
            assert "does not know" not in found.problem.en  # the sentence around what nobody foresaw
