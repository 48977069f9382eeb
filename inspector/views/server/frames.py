"""The messages that a page may send to the server.

Streamlit's protocol has more than its menu shows: any client may empty the caches of all visitors, or ask where the
code lies. Only what the pages need goes on, in fields that this release knows.
"""

from __future__ import annotations

from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg

NEEDED = {"rerun_script", "stop_script", "file_urls_request", "app_heartbeat", "backend_operation_request"}
OPERATIONS = {"deferred_file", "dataframe_chunk"}  # a download that is made when it is pressed, rows of a long table


def needed(frame: bytes | None) -> bytes | None:
    """Give a frame without unknown fields; None for a text frame, and for a message that no page needs."""
    message = BackMsg()
    try:
        message.ParseFromString(frame or b"")
    except DecodeError:
        return None
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        if message.backend_operation_request.WhichOneof("payload") not in OPERATIONS:
            return None
    elif kind not in NEEDED:
        return None
    message.DiscardUnknownFields()
    known: bytes = message.SerializeToString()
    return known
