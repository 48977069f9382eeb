"""Tables on disk: Parquet whose bytes depend on nothing but the table, read back only where they are what they were."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from inspector.atlas import storage
from inspector.atlas.storage import Place

MOST_BYTES = 2 * 2**30  # of one file


def parquet_bytes(table: pa.Table, *, split: bool = False) -> bytes:
    """Write a table to Parquet in memory.

    split: write the bytes of the float lists apart, the first of all, then the second of all: 0.6 of the size, for
    numbers that do not repeat.
    """
    lists = [f"{field.name}.list.element" for field in table.schema if pa.types.is_fixed_size_list(field.type)]
    others = [field.name for field in table.schema if not pa.types.is_fixed_size_list(field.type)]
    options = {"use_dictionary": others, "use_byte_stream_split": lists} if split else {}
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_statistics=False, **options)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def read_table(
    path: Place, schema: pa.Schema, *, sha256: str | None = None, columns: Sequence[str] | None = None
) -> pa.Table:
    """Read a Parquet file with exactly these columns, or some of them.

    sha256: of the file as it was written. Raises ValueError, with the file's name, where it is missing, too large,
    damaged, or has other columns.
    """
    return parsed(read(path, sha256=sha256), path, schema, columns=columns)


def read(path: Place, *, sha256: str | None = None) -> bytes:
    """Read a file's bytes; ValueError, with its name, where it is missing, too large, or not what was written."""
    try:
        content = storage.read(path, most=MOST_BYTES)
    except FileNotFoundError as error:
        raise ValueError(f"{path} is missing") from error
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"{path} is damaged, or of another atlas: it is not the file that was written")
    return content


def parsed(content: bytes, path: Place, schema: pa.Schema, *, columns: Sequence[str] | None = None) -> pa.Table:
    """Make a table of a Parquet file's bytes, or of some of its columns; path: for messages, as `read_table` has."""
    return _parsed(pa.BufferReader(content), path, schema, columns)


def read_columns(path: Place, schema: pa.Schema, *, columns: Sequence[str]) -> pa.Table:
    """Read some columns of a Parquet file, and nothing else of it; refused as by `read_table`, but for its hash."""
    try:
        source = storage.open_table(path)
    except FileNotFoundError as error:
        raise ValueError(f"{path} is missing") from error
    return _parsed(source, path, schema, columns)


def _parsed(source: str | pa.NativeFile, path: Place, schema: pa.Schema, columns: Sequence[str] | None) -> pa.Table:
    try:
        with pq.ParquetFile(source) as file:
            if not file.schema_arrow.equals(schema):
                raise ValueError(f"{path} has other columns than an atlas: {file.schema_arrow.names[:8]}")
            unpacked = sum(file.metadata.row_group(group).total_byte_size for group in range(file.num_row_groups))
            if unpacked > MOST_BYTES:
                raise ValueError(f"{path} unpacks to {unpacked:,} bytes, and such a file to at most {MOST_BYTES:,}")
            return file.read(columns=columns, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} is damaged ({str(error)[:200]})") from error
