from __future__ import annotations

import base64
import hashlib
import re

import numpy as np

from inspector.components import standalone
from inspector.components.head import HeadMessage
from tests.inspector.components.messages import COLOURS


def test_a_page_holds_its_data_and_forbids_the_rest():
    hostile = "</script><script>alert(1)</script>"
    tokens = [hostile, "b"]
    head = HeadMessage(
        np.eye(2, dtype=np.float32), queries=tokens, keys=tokens, colours=COLOURS, title=hostile
    ).to_bytes()
    page = standalone.page(hostile, head, facts={hostile: hostile})
    assert "alert(1)</script>" not in page
    (data,) = re.findall(r'<script type="application/octet-stream" class="head">(.*?)</script>', page)
    assert base64.b64decode(data) == head
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)
    for tag in ("script", "style"):
        (source,) = re.findall(rf"<{tag}(?: type=\"module\")?>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"https?://|\ssrc=|\shref=", page)
