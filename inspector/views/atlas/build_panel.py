"""Building an atlas of the reader's own texts from the page: what it takes is said first; Stop keeps what is done."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import streamlit as st

from inspector import atlas
from inspector.atlas import Text, corpus, library
from inspector.atlas.estimate import Estimate, estimate
from inspector.text import plain
from inspector.views.server import process_settings, queue
from inspector.views.shell import atlas_keys, caching, measuring, problems
from inspector.wording import atlas as words
from models import LoadedModel

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

KINDS = ("txt", "tsv", "conllu", "jsonl", "parquet")
MOST_BYTES = 20 * 10**6  # of a file
BUDGET = corpus.Budget(texts=5_000, characters=500_000)
MOST_MINUTES = 15  # of a build, as it is estimated; the Lab trains as long
MOST_KEPT = 5 * 10**9  # bytes of all atlases that are kept
_BLOCK = 64  # texts: a Stop waits for one block
_NAME = re.compile(r"[\w][\w .-]{0,39}")
_LABELS = measuring.Labels(
    start=words.START,
    again=words.AGAIN,
    running=words.building,
    stopped=lambda done, total, kept: words.stopped(done, total),
    failed=words.FAILED,
    work=words.WORK,
    instead=words.INSTEAD,
    icon=":material/map:",
)


def show(loaded: LoadedModel) -> None:
    """Offer to build an atlas of the model over the reader's texts, and to remove those that are kept."""
    folder = library.kept()
    if folder is None:
        st.caption(words.NO_BUILDING)
        return
    st.markdown(words.build(BUDGET, size=MOST_BYTES, by_key=atlas_keys.held() is not None))
    typed = st.text_area(words.TYPED, key="atlas_texts", height=140, max_chars=BUDGET.characters)
    file = st.file_uploader(
        words.FILE, type=list(KINDS), key="atlas_file", max_upload_size=MOST_BYTES // 10**6, width=420
    )
    name = st.text_input(words.NAME, key="atlas_name", value=words.MY_TEXTS, max_chars=40, width=260).strip()
    if file is None and not typed.strip():
        st.caption(words.NOTHING_TO_BUILD)
        _own(folder)
        return
    try:
        texts = _typed(typed) if file is None else _uploaded(file)
        if not _NAME.fullmatch(name):
            raise ValueError(words.NO_SUCH_NAME)
        of = loaded.card.id, hash(texts)
        expected = caching.cached(("atlas estimate", *of), lambda: _estimated(loaded, texts))
        if expected.seconds > MOST_MINUTES * 60:
            raise ValueError(words.too_long(expected, minutes=MOST_MINUTES))
    except ValueError as error:
        problems.show(str(error), what=words.FAILED)
        _own(folder)
        return
    _build(loaded, texts, folder, name=name, expected=expected, known=(name, *of))
    _own(folder)


def _typed(typed: str) -> tuple[Text, ...]:
    return tuple(corpus.read((line for line in typed.splitlines() if line.strip()), budget=BUDGET))


def _uploaded(file: UploadedFile) -> tuple[Text, ...]:
    """Read an uploaded file once, in the reader's turn; what was wrong with it is known from then on, too."""
    known: tuple[str, tuple[Text, ...] | str] = st.session_state.get("atlas_read", ("", ()))
    if known[0] != file.file_id:
        with queue.turn(words.READING):
            try:
                known = file.file_id, _read(file)
            except ValueError as error:
                known = file.file_id, str(error)
        st.session_state["atlas_read"] = known
    if isinstance(known[1], str):
        raise ValueError(known[1])
    return known[1]


def _read(file: UploadedFile) -> tuple[Text, ...]:
    """Read an uploaded file as a corpus; it is written down for as long as it is read."""
    if file.size > MOST_BYTES:
        raise ValueError(words.file_too_large(file.name[:100], size=file.size, most=MOST_BYTES))
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{Path(file.name).suffix.lower()}"
        path.write_bytes(file.getbuffer())
        try:
            return tuple(corpus.read(path, budget=BUDGET))
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), Path(file.name).name[:100])) from error


def _estimated(loaded: LoadedModel, texts: tuple[Text, ...]) -> Estimate:
    with queue.turn(words.ESTIMATING):
        return _alone(lambda: estimate(loaded, texts))


def _build(
    loaded: LoadedModel,
    texts: tuple[Text, ...],
    folder: Path,
    *,
    name: str,
    expected: Estimate,
    known: tuple[object, ...],
) -> None:
    def work(watch: measuring.Watch, keep: Callable[[str], object]) -> str:
        title, out = library.place(folder, loaded, texts, name=name, keys=atlas_keys.held())
        taken = library.nbytes(folder, without=out)
        if taken + expected.nbytes > MOST_KEPT:
            raise ValueError(words.too_large(expected, taken=taken, most=MOST_KEPT))
        atlas_keys.take(out.name)  # before the work: who stops it goes on with it
        try:
            _alone(lambda: atlas.build(loaded, texts, out=out, name=title, block_texts=_BLOCK, on_progress=watch))
        except (ValueError, OSError) as error:
            if not library.is_begun(out):  # what was measured since the removal is nobody's
                library.remove(folder, out.name)
                raise ValueError(words.REMOVED_MEANWHILE) from error
            raise ValueError(library.without_path(error, out)) from error
        st.session_state["atlas_built"] = out.name
        return out.name

    about = words.estimated(len(texts), expected)
    id = measuring.run(work, known=("atlas", *known), key="atlas_build", about=about, labels=_LABELS)
    if st.session_state.pop("atlas_built", None) is not None and id is not None:
        atlas_keys.open_atlas(id)
        st.rerun()
    if id is not None and library.is_begun(folder / id):
        by_key = atlas_keys.held() is not None
        st.success(words.built(library.name_of(folder / id), by_key=by_key), icon=":material/check:")


def _alone(work: Callable[[], measuring.Result]) -> measuring.Result:
    """Do the work, which takes one torch thread for the sake of its bits, and give the others back."""
    try:
        return work()
    finally:
        process_settings.use_threads()


def _own(folder: Path) -> None:
    """List what the reader may remove, of every model and finished or not; a button asks before it does."""
    for own in library.folders(folder, keys=atlas_keys.held()):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(plain(words.stored(own.name, own.atlas)), width="content")
            with st.popover(words.REMOVE, icon=":material/delete:", key=f"ask {own.id}"):
                st.markdown(plain(words.removing(own.name)))
                if st.button(words.REMOVE_FOR_GOOD, key=f"remove {own.id}", icon=":material/delete:"):
                    library.remove(folder, own.id)
                    atlas_keys.close_atlas(own.id)
                    st.rerun()
