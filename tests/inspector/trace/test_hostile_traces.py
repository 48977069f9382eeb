"""Traces of strangers: every mutation of a real file is refused in a sentence, or holds wherever the page uses it."""

from __future__ import annotations

import copy
import io
import json
import random
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import inspector
import models
from inspector import Trace, alignment, heads, maps, normalization, overview, record
from inspector import head_roles as reading
from inspector import head_search as find
from inspector.components.grid import sides
from inspector.components.head import HeadMessage
from inspector.lens import residual_stream
from inspector.sections.layernorm import every as norm_section
from inspector.sections.layernorm import stream as norm_stream
from inspector.trace import file as trace_file
from inspector.wording.english import attention as said
from inspector.wording.english import find as wished
from inspector.wording.english import layernorm as norm_words
from models.attention.functions import ComposedAttention, WeightedSum
from models.attention.pairs import Whole
from models.attention.relative import AlibiBias, T5Bias
from models.attention.scores import DotScore, FillWith, GeneralScore
from models.huggingface.eager_attention import EagerAttention
from models.huggingface.eager_output import GivenScores, RecomputedScores
from models.huggingface.score_program import Cellwise, Given, Product
from tests.closeness import assert_close

SEED, FIELDS, ARRAYS = 11, 330, 170
OTHERS: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 7, 10**6, 10**30, -(10**30), 1.5, -0.5, nan, inf, -inf, 1e38, 1e308),
    *("", "x", "encoder", "cross", "1", "\ud800", "\x00", "a" * 5_000, "../../etc/passwd", "transformers.models.bert"),
    *([], [1], [None], [[]], ["x"], [1, 2, 3, 4, 5, 6, 7, 8], {}, {"a": 1}, {"part": "DotScore", "fields": {}}),
)
Mutation = Callable[[dict[str, Any], dict[str, np.ndarray]], None]


@pytest.fixture(scope="module")
def trace() -> Trace:
    """A text and its target in the untrained encoder-decoder, with an attention function of every kind."""
    recorded = record(models.load("own-encoder-decoder"), "A cat, unbelievably.", target="My dog sat.")
    site = recorded.sites[0]
    generator = torch.Generator().manual_seed(SEED)
    width, heads = recorded.attentions[0].query.shape[-1], site.heads
    weight = torch.randn(heads, width, width, generator=generator) / width
    own = recorded.sites[2]
    scores = torch.randn(1, heads, len(own.queries), len(own.keys), generator=generator)
    table = torch.randn(8, heads, generator=generator)
    llama = {"training": False, "num_key_value_groups": 1, "scaling": 0.25, "sinks": torch.zeros(heads)}
    given = {"scaling": 0.25}
    functions = (
        EagerAttention("transformers.models.llama.modeling_llama", llama, given),
        ComposedAttention(
            GeneralScore(weight), 0.5, AlibiBias((0.5,) * heads, 0), FillWith(-inf), False, WeightedSum()
        ),
        GivenScores(scores),
        ComposedAttention(GeneralScore(weight), 0.5, T5Bias(table, 16, True, 0), FillWith(-9.0), True, WeightedSum()),
    )
    attentions = list(recorded.attentions)
    last = attentions[4]
    query, key = (Given(Whole(tensor[None].clone())) for tensor in (last.query, last.key.mT))
    program = Cellwise("mul", (Product(query, key), 0.25), (1, heads, last.query.shape[1], last.key.shape[1]))
    by_itself = ComposedAttention(DotScore(), 0.5, None, FillWith(-inf), False, WeightedSum(), sigmoid=True)
    for at, function in enumerate((*functions, RecomputedScores(program), by_itself)):
        attentions[at] = replace(attentions[at], function=function)
    return replace(recorded, attentions=tuple(attentions))


@pytest.fixture(scope="module")
def parts(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of its file."""
    path = tmp_path_factory.mktemp("trace") / "t.npz"
    inspector.save(trace, path)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(str(arrays.pop("header"))), arrays


def told(trace: Trace, chosen: pd.DataFrame) -> None:
    """Put into words whatever the pages put into words of a trace."""
    for site in trace.sites:
        for head in (0, site.heads - 1):
            found = reading.head(chosen, trace, site, head)
            assert said.head(found).encode()
            (said.also(found) + "".join(said.terms(found))).encode()
    for stream in trace.streams:
        assert said.grid(reading.grid(chosen, trace, stream=stream)).encode()
        for wish in find.possible(chosen, stream=stream):
            for found in find.fitting(chosen, wish, stream=stream)[:1]:
                wished.best(found, wish).encode()
        norms = {index: norm for index, norm in enumerate(trace.norms) if norm.stream == stream}
        if norms:
            table = normalization.statistics(trace)
            table, size = table[table["stream"] == stream], norm_stream.size(norms)
            if len(table):
                norm_section.widest(norm_section.outstanding(table, size=size), norms, size=size).encode()
            formulas, placements, outside = norm_section.kinds(norms)
            norm_words.kinds(formulas=formulas, placements=placements, outside=outside).encode()


def use(trace: Trace, path: Any) -> None:
    """Ask of a trace what the pages ask."""
    for site in trace.sites:
        where = {"layer": site.layer, "stream": site.stream, "call": site.call}
        weights, scores = trace.attention(**where), trace.scores(**where)
        assert weights.shape == scores.shape == (site.heads, len(site.queries), len(site.keys))
        assert np.isfinite(weights).all()
        assert not np.isnan(scores).any()
        for head in (0, site.heads - 1):
            one = trace.window(head=head, queries=slice(None), keys=slice(None), **where)
            assert_close(one, weights[head], relative=1e-5)
            shown = maps.arrange(trace, stream=site.stream, hide_special=False, merge_words=True)
            maps.weights(trace, shown, head=head, **where)
            alignment.axes(trace, shown, stream=site.stream)
            HeadMessage(weights[head], queries=site.queries, keys=site.keys, layer=0, head=head).to_bytes()
        trace.pooled(side=4, **where)
    measured = heads.measure(trace)
    heads.label(measured)
    heads.most_telling(measured)
    overview.measure(trace, sides=sides(trace.sites))
    told(trace, heads.with_choice(measured, trace))
    if trace.norms:
        normalization.statistics(trace)
        normalization.parameters(trace)
    for stream in {state.stream for state in trace.states}:
        assert all(np.isfinite(residual.state).all() for residual in residual_stream(trace, stream=stream))
    assert trace.nbytes > 0
    assert str(trace.cut or "") is not None
    f"{trace.model}{trace.text}{trace.text_pair}{trace.target_text}".encode()
    for encoding in (trace.encoding, trace.target):
        if encoding is not None:
            "".join(encoding.tokens).encode()
            assert len(encoding.known) == len(encoding)
    inspector.save(trace, path)
    inspector.open(path)


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every field of a header; of a list, to its first and its last."""
    if at:
        yield at
    if isinstance(value, dict):
        for name in value:
            yield from paths(value[name], (*at, name))
    elif isinstance(value, list) and value:
        for index in {0, len(value) - 1}:
            yield from paths(value[index], (*at, index))


def of_fields(header: dict[str, Any], chosen: random.Random) -> list[tuple[str, Mutation]]:
    """Fields with other values, left out, doubled, shortened."""
    made = []
    every = list(paths(header))
    for _ in range(FIELDS):
        way, value = chosen.choice(every), chosen.choice(OTHERS)
        how = chosen.choice(("set", "set", "set", "drop", "double", "shorten"))

        def mutate(
            header: dict[str, Any], arrays: dict[str, np.ndarray], way: Any = way, value: Any = value, how: str = how
        ) -> None:
            *before, last = way
            place = header
            for step in before:
                place = place[step]
            if how == "set":
                place[last] = value
            elif how == "drop":
                del place[last]
            elif how == "double" and isinstance(place[last], list):
                place[last] = place[last] * 2
            elif isinstance(place[last], list | str):
                place[last] = place[last][:-1]
            else:
                place[last] = value

        made.append((f"{how} {'.'.join(map(str, way))} {value!a:.40}", mutate))
    return made


def of_arrays(arrays: dict[str, np.ndarray], chosen: random.Random) -> list[tuple[str, Mutation]]:
    """Arrays of other types, shapes and numbers, and none."""
    changes: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "shorter": lambda a: a[:-1],
        "thinner": lambda a: a[..., :-1],
        "longer": lambda a: np.concatenate([a, a]),
        "flat": lambda a: a.ravel(),
        "deeper": lambda a: a[None],
        "empty": lambda a: a[:0],
        "number": lambda a: np.array(0.5),
        "turned": lambda a: a.T,
        "nan": lambda a: np.full_like(a, nan) if a.dtype.kind == "f" else np.full(a.shape, nan),
        "one nan": lambda a: np.where(np.arange(a.size).reshape(a.shape) == a.size - 1, nan, a).astype(a.dtype),
        "inf": lambda a: np.full(a.shape, inf, np.float32),
        "huge": lambda a: np.full(a.shape, 3e38, np.float32),
        "zero": np.zeros_like,
        "whole": lambda a: np.nan_to_num(a).astype(np.int64),
        "double": lambda a: a.astype(np.float64),
        "half": lambda a: a.astype(np.float16),
        "complex": lambda a: a.astype(np.complex64),
        "truth": lambda a: a.astype(bool),
        "text": lambda a: np.full(a.shape, "x"),
        "date": lambda a: np.zeros(a.shape, "M8[s]"),
        "swapped": lambda a: a.astype(a.dtype.newbyteorder()),
        "records": lambda a: np.zeros(a.shape, [("a", "f4"), ("b", "f4")]),
    }
    made = []
    for _ in range(ARRAYS):
        name, how = chosen.choice(list(arrays)), chosen.choice([*changes, "gone", "another's"])

        def mutate(
            header: dict[str, Any],
            arrays: dict[str, np.ndarray],
            name: str = name,
            how: str = how,
            seed: int = len(made),
        ) -> None:
            if how == "gone":
                del arrays[name]
            elif how == "another's":
                arrays[name] = arrays[sorted(arrays)[seed % len(arrays)]]
            else:
                with np.errstate(all="ignore"):
                    arrays[name] = changes[how](arrays[name])

        made.append((f"{how} {name}", mutate))
    return made


def opened(header: Any, arrays: dict[str, np.ndarray]) -> Trace:
    file = io.BytesIO()
    np.savez(file, header=np.array(json.dumps(header)), **arrays)
    return trace_file.read(file, name="t.npz")


def test_the_file_itself_opens(
    trace: Trace, parts: tuple[dict[str, Any], dict[str, np.ndarray]], tmp_path: Any
) -> None:
    same = opened(*parts)
    use(same, tmp_path / "t.npz")
    for site in trace.sites:
        where = {"layer": site.layer, "stream": site.stream}
        np.testing.assert_array_equal(same.attention(**where), trace.attention(**where))


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_a_mutated_file_is_refused_or_holds(parts: tuple[dict[str, Any], dict[str, np.ndarray]], tmp_path: Any) -> None:
    chosen, sentences, failed = random.Random(SEED), list[str](), list[str]()
    mutations = of_fields(parts[0], chosen) + of_arrays(parts[1], chosen)
    for name, mutate in mutations:
        header, arrays = copy.deepcopy(parts[0]), dict(parts[1])
        mutate(header, arrays)
        try:
            trace = opened(header, arrays)
        except ValueError as error:
            sentences.append(str(error))
            continue
        try:
            use(trace, tmp_path / "again.npz")
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {error}"[:200])
    assert not failed, "\n".join(failed)
    assert len(sentences) > len(mutations) // 3
    assert all(re.match(r"'t.npz' is (damaged|too large)", one) and len(one) < 600 for one in sentences)


def zipped(entries: dict[str, bytes], **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def header_of(value: object) -> dict[str, bytes]:
    return {"header.npy": npy(np.array(value if isinstance(value, str) else json.dumps(value)))}


FILES: dict[str, bytes] = {
    "empty": b"",
    "one byte": b"P",
    "a zip of nothing": zipped({}).getvalue(),
    "no header": zipped({"hidden.npy": npy(np.zeros((2, 2)))}).getvalue(),
    "a header of another type": zipped({"header.npy": npy(np.arange(3))}).getvalue(),
    "a header that is a list": zipped(header_of([1, 2])).getvalue(),
    "a header that is a number": zipped(header_of("7")).getvalue(),
    "a header that is no JSON": zipped(header_of("{")).getvalue(),
    "a header 5,000 deep": zipped(header_of("[" * 5_000 + "]" * 5_000)).getvalue(),
    "names alone": zipped(header_of({"format": "headlight-trace", "version": 1})).getvalue(),
    "an array that is no array": zipped({"header.npy": b"no magic here"}).getvalue(),
    "a pickle": zipped({"header.npy": b"\x80\x04."}).getvalue(),
    "paths for names": zipped({"../../header.npy": b"", "/etc/passwd": b""}).getvalue(),
    "lzma": zipped(header_of({}), compression=zipfile.ZIP_LZMA).getvalue(),
    "a directory that lies": (
        zipped(header_of({}), compression=zipfile.ZIP_DEFLATED)
        .getvalue()
        .replace(struct.pack("<I", len(header_of({})["header.npy"])), struct.pack("<I", 2**31 - 1))
    ),
    "an npy of a huge shape": zipped(
        {"header.npy": npy(np.array("x")).replace(b"'shape': ()", b"'shape': (9" + b"9" * 12 + b",)")}
    ).getvalue(),
    "text": b"this is no trace",
    "html": b"<html><script>alert(1)</script>",
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_another_file_is_a_sentence(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"^'t.npz' is (damaged or was not saved|too large)"):
        trace_file.read(io.BytesIO(content), name="t.npz")


def test_a_name_in_a_zip_twice(parts: tuple[dict[str, Any], dict[str, np.ndarray]]) -> None:
    """The last of them counts, as in numpy; what it holds is checked as any other."""
    file = io.BytesIO()
    np.savez(file, header=np.array(json.dumps(parts[0])), **parts[1])
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("hidden.npy", npy(np.zeros((1, 1), np.float32)))
    with pytest.raises(ValueError, match="its last hidden state"):
        trace_file.read(file, name="t.npz")
