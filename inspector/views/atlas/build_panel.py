"""Building an atlas of the reader's own texts from the page: what it takes is said first; Stop keeps what is done."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st

from inspector import atlas
from inspector.atlas import Text, corpus, library
from inspector.atlas.estimate import Estimate, estimate
from inspector.views.server import process_settings
from inspector.views.shell import measuring, session, widgets
from inspector.wording.english import atlas as words
from models import LoadedModel
from models.formatting import format_bytes

KINDS = ("txt", "tsv", "conllu", "jsonl", "parquet")
MOST_TEXTS = 5_000
MOST_BYTES = 20 * 10**6  # of a file
MOST_CHARACTERS = 500_000  # of texts that are typed
MOST_KEPT = 5 * 10**9  # bytes of all atlases that are kept
_BLOCK = 64  # texts: a Stop waits for one block
_NAME = re.compile(r"[\w][\w .-]{0,39}")
_LABELS = measuring.Labels(
    start="Build",
    again="Build again",
    running=words.building,
    stopped=lambda done, total, kept: words.stopped(done, total),
    failed="Cannot be built",
    work="Building an atlas",
    instead="Choose another model or other texts.",
    icon=":material/map:",
)


def show(loaded: LoadedModel) -> None:
    """Offer to build an atlas of the model over the reader's texts, and to remove those that are kept."""
    folder = library.kept()
    if folder is None:
        st.caption(words.NO_BUILDING)
        return
    st.markdown(words.BUILD.format(folder=widgets.plain(str(folder)), texts=MOST_TEXTS, size=format_bytes(MOST_BYTES)))
    typed = st.text_area("Texts, one a line", key="atlas_texts", height=140, max_chars=MOST_CHARACTERS)
    file = st.file_uploader(
        "Or a file", type=list(KINDS), key="atlas_file", max_upload_size=MOST_BYTES // 10**6, width=420
    )
    name = st.text_input("Name", key="atlas_name", value="my texts", max_chars=40, width=260)
    if file is None and not typed.strip():
        st.caption(words.NOTHING_TO_BUILD)
        _own(folder)
        return
    try:
        texts = _texts(typed) if file is None else _file(file.name, file.getvalue())
        if not _NAME.fullmatch(name):
            raise ValueError("the name of an atlas has 1 to 40 letters, digits, blanks, dots and dashes")
        of = loaded.card.id, hash(texts)
        expected = session.cached(("atlas estimate", *of), lambda: _alone(lambda: estimate(loaded, texts)))
    except ValueError as error:
        session.show_problem(str(error), what="Cannot be built")
        _own(folder)
        return
    _build(loaded, texts, folder / name.strip(), name=name.strip(), expected=expected, known=(name, *of))
    _own(folder)


def _texts(typed: str) -> tuple[Text, ...]:
    return _limited(list(corpus.read(line for line in typed.splitlines() if line.strip())))


def _file(name: str, content: bytes) -> tuple[Text, ...]:
    """Read an uploaded file as a corpus; it is written down for as long as it is read."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{Path(name).suffix.lower()}"
        path.write_bytes(content)
        try:
            return _limited(list(_first(path)))
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), Path(name).name)) from error


def _first(path: Path) -> Sequence[Text]:
    return [text for text, _ in zip(corpus.read(path), range(MOST_TEXTS + 1), strict=False)]


def _limited(texts: list[Text]) -> tuple[Text, ...]:
    if len(texts) > MOST_TEXTS:
        raise ValueError(
            f"there are more than {MOST_TEXTS:,} texts, the most that are measured here; python -m inspector.atlas "
            "build takes any number"
        )
    return tuple(texts)


def _build(
    loaded: LoadedModel, texts: tuple[Text, ...], out: Path, *, name: str, expected: Estimate, known: tuple[object, ...]
) -> None:
    taken = sum(path.stat().st_size for path in out.parent.rglob("*") if path.is_file()) if out.parent.is_dir() else 0
    if taken + expected.nbytes > MOST_KEPT:
        session.show_problem(
            f"the atlases that are kept take {format_bytes(taken)}, and this one {format_bytes(expected.nbytes)} more; "
            f"at most {format_bytes(MOST_KEPT)} are kept. Remove one",
            what="Cannot be built",
        )
        return

    def work(watch: measuring.Watch, keep: Callable[[bool], object]) -> bool:
        made = _alone(lambda: atlas.build(loaded, texts, out=out, name=name, block_texts=_BLOCK, on_progress=watch))
        return made is not None

    about = words.estimated(len(texts), expected)
    if measuring.run(work, known=("atlas", *known), key="atlas_build", about=about, labels=_LABELS):
        st.success(words.built(name), icon=":material/check:")


def _alone(work: Callable[[], measuring.Result]) -> measuring.Result:
    """Do the work, which takes one torch thread for the sake of its bits, and give the others back."""
    try:
        return work()
    finally:
        process_settings.use_threads()


def _own(folder: Path) -> None:
    """List what is kept, of every model and finished or not, each with a button that removes it."""
    for own in library.folders(folder):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(widgets.plain(words.kept(own.name, own.atlas)), width="content")
            if st.button("Remove", key=f"remove {own.name}", icon=":material/delete:"):
                shutil.rmtree(folder / own.name, ignore_errors=True)  # another reader may have been first
                st.rerun()
