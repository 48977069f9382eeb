"""A trace saves to one .npz and opens again with the same maps; a damaged file is a sentence."""

from __future__ import annotations

import contextlib
import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import inspector
from inspector import Trace, record, record_batch
from models import LoadedModel
from models.limits import Limits
from tests.models import own_models

TEXT = "The cat sat on the mat because it was tired."


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return record(minilm, TEXT, text_pair="Was it?")


@pytest.fixture
def saved(trace: Trace, tmp_path: Path) -> Path:
    path = tmp_path / "trace.npz"
    inspector.save(trace, path)
    return path


def equal(a: Trace, b: Trace) -> None:
    assert (a.model, a.text, a.text_pair, a.encoding, a.sites) == (b.model, b.text, b.text_pair, b.encoding, b.sites)
    for layer in range(len(a.sites)):
        np.testing.assert_array_equal(a.attention(layer=layer), b.attention(layer=layer))
        np.testing.assert_array_equal(a.scores(layer=layer), b.scores(layer=layer))
    np.testing.assert_array_equal(a.output, b.output)
    assert len(a.norms) == len(b.norms)
    for one, other in zip(a.norms, b.norms, strict=True):
        assert (one.name, one.layer, one.part, one.epsilon) == (other.name, other.layer, other.part, other.epsilon)
        np.testing.assert_array_equal(one.input, other.input)
        np.testing.assert_array_equal(one.output, other.output)


def test_opens_again_equal(trace: Trace, saved: Path) -> None:
    equal(inspector.open(saved), trace)


def test_arrays_are_stored_and_a_compressed_file_opens_too(trace: Trace, saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
    equal(inspector.open(repacked(saved)), trace)


def test_a_byte_that_changed_in_any_array_is_found(saved: Path) -> None:
    """A number that is stored as it is reads as another number; the zip's checksum tells."""
    content = saved.read_bytes()
    with zipfile.ZipFile(saved) as archive:
        entries = archive.infolist()
    for entry in entries:
        last = content.index(entry.filename.encode(), entry.header_offset) + len(entry.filename) + entry.file_size
        saved.write_bytes(content[:last] + bytes([content[last] ^ 1]) + content[last + 1 :])
        with pytest.raises(ValueError, match="Bad CRC-32"):
            inspector.open(saved)


@pytest.mark.heavy
def test_own_models_long_texts_and_padded_batches_too(
    minilm: LoadedModel, minilm_own: LoadedModel, tmp_path: Path
) -> None:
    for loaded in (minilm, minilm_own):
        for trace in (record(loaded, "word " * 700), *record_batch(loaded, [TEXT, "word " * 140], padding="left")):
            inspector.save(trace, tmp_path / "t.npz")
            equal(inspector.open(tmp_path / "t.npz"), trace)


def test_what_was_cut_is_remembered(minilm: LoadedModel, tmp_path: Path) -> None:
    inspector.save(record(minilm, "word " * 700), tmp_path / "t.npz")
    assert inspector.open(tmp_path / "t.npz").cut.total == 702


def test_a_file_of_an_older_version_is_refused_with_the_way_out(saved: Path) -> None:
    with np.load(saved) as archive:
        sites = json.loads(str(archive["header"]))["sites"]
    older = [{name: value for name, value in site.items() if name != "window"} for site in sites]
    with pytest.raises(ValueError, match=r"sites\.0\.window is missing.*record the text again and save it"):
        inspector.open(rewritten(saved, header_sites=older))


def test_a_file_from_before_the_fused_kernel_could_be_chosen_opens(saved: Path, trace: Trace) -> None:
    with np.load(saved) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays["header"]))
    assert header.pop("fused") is False
    np.savez(saved, **arrays | {"header": np.array(json.dumps(header))})
    equal(inspector.open(saved), trace)
    with pytest.raises(ValueError, match="fused is not what it can be"):
        inspector.open(rewritten(saved, header_fused="yes"))


@pytest.mark.parametrize("weighting", ["sigmoid", "linear"])
def test_how_scores_become_weights_is_kept(weighting: str, tmp_path: Path) -> None:
    trace, path = record(own_models.own("decoder", weighting=weighting), TEXT), tmp_path / "t.npz"
    inspector.save(trace, path)
    equal(inspector.open(path), trace)
    with np.load(path) as archive:
        sites = json.loads(str(archive["header"]))["sites"]
    sites[0]["function"]["function"]["fields"]["sigmoid"] = "perhaps"
    with pytest.raises(ValueError, match="sigmoid"):
        inspector.open(rewritten(path, header_sites=sites))


def test_only_npz(trace: Trace, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a trace is saved as .npz, not as 'trace.pkl'"):
        inspector.save(trace, tmp_path / "trace.pkl")
    with pytest.raises(ValueError, match="there is no file"):
        inspector.open(tmp_path / "missing.npz")


def rewritten(saved: Path, **changes: object) -> Path:
    with np.load(saved) as archive:
        arrays = {key: archive[key] for key in archive.files}
    header = json.loads(str(arrays["header"]))
    for name, value in changes.items():
        if name.startswith("header_"):
            header[name.removeprefix("header_")] = value
    arrays["header"] = np.array(json.dumps(header))
    arrays |= {name.replace("__", "."): value for name, value in changes.items() if not name.startswith("header_")}
    np.savez(saved, **arrays)
    return saved


def damaged(saved: Path, how: str) -> Path:
    content = saved.read_bytes()
    match how:
        case "empty":
            saved.write_bytes(b"")
        case "text":
            saved.write_bytes(b"this is not a zip file")
        case "truncated":
            saved.write_bytes(content[: len(content) // 2])
        case "flipped":
            middle = len(content) // 2
            saved.write_bytes(
                content[:middle] + bytes(b ^ 255 for b in content[middle : middle + 200]) + content[middle + 200 :]
            )
        case "other arrays":
            np.savez(saved, a=np.zeros(3))
        case "pickle":
            np.savez(saved, header=np.array([{"a": 1}], dtype=object))
        case "version":
            rewritten(saved, header_version=99)
        case "too few tokens":
            with np.load(saved) as archive:
                header = json.loads(str(archive["header"]))
            encoding = {k: (v[:-1] if isinstance(v, list) else v) for k, v in header["encoding"].items()}
            rewritten(saved, header_encoding=encoding)
        case "wrong shape":
            rewritten(saved, attention__2__key=np.zeros((12, 5, 32), np.float32))
        case "not a number":
            rewritten(saved, attention__2__query=np.full((12, 16, 32), np.nan, np.float32))
        case "foreign code":
            with np.load(saved) as archive:
                header = json.loads(str(archive["header"]))
            header["sites"][0]["function"]["source"] = "subprocess"
            rewritten(saved, header_sites=header["sites"])
    return saved


@pytest.mark.parametrize(
    "how",
    [
        *("empty", "text", "truncated", "flipped", "other arrays", "pickle", "version", "too few tokens"),
        *("wrong shape", "not a number", "foreign code"),
    ],
)
def test_a_damaged_file_is_a_sentence(saved: Path, how: str) -> None:
    with pytest.raises(ValueError, match=r"'trace.npz' is damaged or was not saved by this version of Headlight"):
        inspector.open(damaged(saved, how))


def test_a_small_file_cannot_unpack_to_gigabytes(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.trace.file._LARGEST", 1000)
    with pytest.raises(ValueError, match=r"it unpacks to [\d,]+ bytes, more than 1,000"):
        inspector.open(saved)


def test_over_a_limit_names_both_numbers_and_the_way_out(trace: Trace, saved: Path) -> None:
    tokens, unpacked = len(trace.tokens), sum(entry.file_size for entry in zipfile.ZipFile(saved).infolist())
    inspector.open(saved, limits=Limits(tokens=tokens, layers=6, capture_bytes=unpacked))
    for limits, sentence in (
        (Limits(tokens=tokens - 1), f"it has {tokens} tokens, more than the {tokens - 1} of HEADLIGHT_TOKENS"),
        (Limits(layers=5), "it has 6 attention layers, more than the 5 of HEADLIGHT_LAYERS"),
        (
            Limits(capture_bytes=100_000),
            rf"it unpacks to {unpacked:,} bytes, more than 100,000.*HEADLIGHT_CAPTURE_BYTES",
        ),
    ):
        with pytest.raises(ValueError, match=rf"'trace.npz' is too large: {sentence}"):
            inspector.open(saved, limits=limits)


def most_allocated(path: Path) -> int:
    """Bytes that numpy held at most while the file was opened, whether it could be or not."""
    tracemalloc.start()
    with contextlib.suppress(ValueError):
        inspector.open(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def repacked(saved: Path, **added: np.ndarray) -> Path:
    with np.load(saved) as archive:
        arrays = {key: archive[key] for key in archive.files}
    np.savez_compressed(saved, **arrays | added)
    return saved


def test_what_nobody_asks_for_is_not_unpacked(saved: Path, trace: Trace) -> None:
    usual = most_allocated(saved)
    path = repacked(saved, unused=np.zeros(10_000_000))  # 80 MB in 80 kB
    assert most_allocated(path) < usual + 2_000_000
    equal(inspector.open(path), trace)


def test_a_header_over_its_limit_is_not_unpacked(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.trace.archive.MOST_HEADER", 1_000_000)
    path = repacked(saved, header=np.array("a" * 5_000_000))
    assert most_allocated(path) < 1_000_000
    with pytest.raises(ValueError, match=r"its header unpacks to 20,000,\d+ bytes, more than 1,000,000"):
        inspector.open(path)


def test_an_array_that_claims_more_than_it_has_is_not_made(saved: Path) -> None:
    shape = io.BytesIO()
    np.lib.format.write_array_header_1_0(shape, {"descr": "<f4", "fortran_order": False, "shape": (10**7, 10)})
    with zipfile.ZipFile(saved) as archive:
        entries = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    with zipfile.ZipFile(saved, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, shape.getvalue() if name == "attention.0.query.npy" else content)
    assert most_allocated(saved) < 10_000_000
    with pytest.raises(
        ValueError, match=r"attention.0.query has \d+ bytes, and its shape \(10000000, 10\) takes 400,000"
    ):
        inspector.open(saved)
