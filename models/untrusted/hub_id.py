"""The name of a model on the Hugging Face hub, validated: the name may come from a stranger."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_NAME = re.compile(f"{_PART}/{_PART}")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")


@dataclass(frozen=True)
class HubId:
    """A model on the hub: "org/name", and the requested branch, tag or commit (None: the default branch)."""

    name: str
    revision: str | None = None

    def __str__(self) -> str:
        return self.name if self.revision is None else f"{self.name}@{self.revision}"


def parse(name: str) -> HubId:
    """Parse "org/name" or "org/name@revision"; a name is never looked up in the working directory.

    Raises ValueError for anything else: other characters, "..", "--", a path, a web address, over 96 characters.
    """
    model, at, revision = name.strip(" ").partition("@")
    plain = _NAME.fullmatch(model) and ".." not in model and "--" not in model and not model.endswith(".git")
    if not plain or len(model) > 96:
        raise ValueError(
            f"{name[:100]!a} is no name of a model on the hub; write org/name, such as google-bert/bert-base-cased"
        )
    known = _REVISION.fullmatch(revision) and ".." not in revision and "//" not in revision
    if at and (not known or revision.endswith(("/", ".", ".lock"))):
        raise ValueError(f"{revision[:100]!a} is no revision; after the @ write a branch, a tag or a commit of {model}")
    return HubId(model, revision or None)
