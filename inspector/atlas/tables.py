"""Tables on disk: Parquet whose bytes depend on nothing but the table, read back only where they are what they were."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

MOST_BYTES = 2 * 2**30  # of one file


def parquet_bytes(table: pa.Table) -> bytes:
    """Write a table to Parquet in memory."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_statistics=False)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_table(
    path: Path, schema: pa.Schema, *, sha256: str | None = None, columns: Sequence[str] | None = None
) -> pa.Table:
    """Read a Parquet file with exactly these columns, or some of them.

    sha256: of the file as it was written. Raises ValueError, with the file's name, where it is missing, too large,
    damaged, or has other columns.
    """
    if not path.is_file():
        raise ValueError(f"{path} is missing")
    if (size := path.stat().st_size) > MOST_BYTES:
        raise ValueError(f"{path} has {size:,} bytes, and such a file at most {MOST_BYTES:,}")
    content = path.read_bytes()
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"{path} is damaged, or of another atlas: it is not the file that was written")
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        if not file.schema_arrow.equals(schema):
            raise ValueError(f"{path} has other columns than an atlas: {file.schema_arrow.names[:8]}")
        unpacked = sum(file.metadata.row_group(group).total_byte_size for group in range(file.num_row_groups))
        if unpacked > MOST_BYTES:
            raise ValueError(f"{path} unpacks to {unpacked:,} bytes, and such a file to at most {MOST_BYTES:,}")
        return file.read(columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} is damaged ({str(error)[:200]})") from error
