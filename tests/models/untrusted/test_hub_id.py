from __future__ import annotations

import pytest
from huggingface_hub.utils import validate_repo_id

from models.untrusted.hub_id import HubId, parse


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("google-bert/bert-base-cased", HubId("google-bert/bert-base-cased")),
        (" a/b ", HubId("a/b")),
        ("01-ai/Yi-1.5_6B.v2@main", HubId("01-ai/Yi-1.5_6B.v2", "main")),
        ("org/name@refs/pr/4", HubId("org/name", "refs/pr/4")),
        ("org/name@v1.0", HubId("org/name", "v1.0")),
        (f"org/name@{'a' * 40}", HubId("org/name", "a" * 40)),
    ],
)
def test_names_of_models(text: str, id: HubId) -> None:
    assert parse(text) == id
    assert parse(str(id)) == id
    validate_repo_id(id.name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "bert",
        "bert-base-cased",
        "/etc/passwd",
        "/bert",
        "org/",
        "../name",
        "org/..",
        "org/../etc",
        "./org/name",
        "~/model",
        "a/b/c",
        "org\\name",
        "C:\\models/x",
        "org/na me",
        "org/name\n",
        "\torg/name",
        "org/name\x00",
        "org/\x1b[31mred",
        "org/n\u0430me",  # a Cyrillic a
        "\uff4frg/name",  # a full-width o
        "org/name\u202e",  # right to left
        "org/na\u200bme",  # a space of no width
        "org/na\u0301me",
        "org/-name",
        "org/name-",
        "org/na--me",
        "org/na..me",
        "org/name.git",
        "https://huggingface.co/org/name",
        "hf://org/name",
        "org/name?x=1",
        "org/name#x",
        "org/%2e%2e",
        "a" * 97 + "/b",
        "org/" + "a" * 93,
        "org/" + "a" * 10_000,
    ],
)
def test_what_is_no_name_is_quoted_safely(name: str) -> None:
    with pytest.raises(ValueError, match=r"is no name of a model on the hub; write org/name") as caught:
        parse(name)
    said = str(caught.value)
    assert said.isascii()
    assert said.isprintable()
    assert len(said) < 700


@pytest.mark.parametrize(
    "revision", ["", "..", "a/../b", "/main", "main/", "a//b", "-x", "m ain", "\x1b", "x.lock", "ü"]
)
def test_what_is_no_revision_is_quoted_safely(revision: str) -> None:
    with pytest.raises(ValueError, match=r"is no revision; after the @ write a branch, a tag or a commit of org/name"):
        parse(f"org/name@{revision}")
