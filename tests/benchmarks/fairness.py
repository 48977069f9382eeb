"""20 visitors beside heavy work and without it: what a light visitor's click takes, who waits unsaid, leaks, memory.

    python tests/benchmarks/fairness.py [--minutes 2] [--rounds 2] [--root a checkout]

Sixteen light visitors type short texts, click, turn pages and change switches, and think for 5 to 15 seconds between.
Four others do the same in a quiet round; in a heavy one they build an atlas, train in the Lab and read two long texts
over and over. After a round that only warms the server up, quiet and heavy rounds take turns on it. Every text holds
the visitor's own word, and each message is searched for the words of all others. The cores that others keep busy
stand beside each round: where they do, the ratio means little. Ends with 1 where there is a failure, a leak, a wait of
over 20 seconds without its place said, or a ratio of the medians over 1.5.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))
os.environ["HF_HUB_OFFLINE"] = "1"

import modern_bert
import psutil
from running_app import ROOT, serve
from socket_session import SocketSession
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from visitors import FILLING, WORDS

PORT = 8663
BUDGETS = {"HEADLIGHT_CACHE_MB": "64", "HEADLIGHT_MAPS_MB": "64", "HEADLIGHT_MEMORY_BYTES": "400MB"}
THINKING = 5.0, 15.0  # seconds between two acts
PATIENCE = 180.0
LIGHT, LONG_TEXTS = 16, 2
PAGES = ("", "compare", "what_if", "block", "layernorm", "positions", "costs", "tokens")
READERS = ("minilm", "minilm-own", "mini-bert", "own-encoder", "mini-bert?scale=none")
ATLAS_TEXTS, LONG = 1000, 3000  # texts of an atlas; words of a long text
BROKEN = (b"Cannot be shown", b"does not know", b"Cannot be built", b"Cannot be trained", b"holds no atlas")
SAID = (b"in the queue", b" of ")  # a place, or how far the visitor's own work is


@dataclass
class Tally:
    """The counts of what visitors saw in a round."""

    clicks: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    heavy: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    unsaid: list[tuple[float, str]] = field(default_factory=list)
    queued: int = 0
    failures: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)


@dataclass
class Visitor:
    """A session that acts until the round is over."""

    number: int
    address: str
    folder: Path
    tally: Tally
    chance: random.Random
    texts: int = 0

    def __post_init__(self) -> None:
        self.word = WORDS[self.number]
        self.others = tuple(word.encode() for word in WORDS if word != self.word)

    async def visit(self, until: float, *, heavy: bool) -> None:
        """Act until the time is up; what goes wrong is noted."""
        await asyncio.sleep(self.chance.uniform(0, THINKING[1]))
        self.heavy = heavy
        while monotonic() < until:
            try:
                async with SocketSession.at(self.address) as self.session:
                    self.session.heard = self._search
                    await asyncio.wait_for(self._acts(until), timeout=until - monotonic() + PATIENCE)
            except Exception as error:
                self.tally.failures.append(f"{self.word}: {type(error).__name__} {str(error)[:200]}")

    async def _acts(self, until: float) -> None:
        heavy = {16: self._atlas, 17: self._lab, 18: self._long_text, 19: self._long_text}
        if self.heavy and self.number >= LIGHT:
            self.session.ending = until  # type: ignore[attr-defined]
            await self._timed(heavy[self.number], until=until)
            return
        await self._timed(self._open, count=False)
        while monotonic() < until:
            await asyncio.sleep(self.chance.uniform(*THINKING))
            acts = (self._text, self._text, self._click, self._click, self._click, self._page, self._open)
            await self._timed(self.chance.choice(acts))

    async def _timed(
        self, act: Callable[[], Awaitable[None]], *, count: bool = True, until: float | None = None
    ) -> None:
        self.begun = self.silent_since = monotonic()
        self.longest, self.was_queued = 0.0, False
        if until is None:
            await asyncio.wait_for(act(), PATIENCE)
        else:  # heavy work goes on until the round ends
            try:
                await asyncio.wait_for(act(), max(0.1, until - monotonic()))
            except TimeoutError:
                self.tally.unsaid.append((max(self.longest, monotonic() - self.silent_since), act.__name__.strip("_")))
                return
        took = monotonic() - self.begun
        name = act.__name__.strip("_")
        self.tally.unsaid.append((max(self.longest, monotonic() - self.silent_since), name))
        self.tally.queued += self.was_queued
        if count and until is None and self.number < LIGHT:
            self.tally.clicks[name].append(took)
        elif until is not None:
            self.tally.heavy[name].append(took)

    # --- what is done ---

    def _sentence(self, words: int) -> str:
        self.texts += 1
        return f"The {self.word} " + " ".join(self.chance.choices(FILLING, k=words))

    async def _open(self) -> None:
        text = self._sentence(self.chance.choice((4, 8, 16, 40)))
        await self.session.open(self.chance.choice(PAGES), model=self.chance.choice(READERS), text=text)

    async def _text(self) -> None:
        await self.session.change({"text": self._sentence(self.chance.choice((4, 8, 16, 40)))}, press="Inspect")

    async def _page(self) -> None:
        await self.session.open(self.chance.choice(PAGES), text=self._sentence(8))

    async def _click(self) -> None:
        boxes = [name for name in ("sqrt", "layers", "renormalise", "words", "hide") if name in self.session.widgets]
        if not boxes:
            await self._page()
            return
        await self.session.change({self.chance.choice(boxes): self.chance.random() < 0.5})

    async def _atlas(self) -> None:
        await self.session.open("atlas")
        await self.session.change({"atlas_build_panel": True})
        texts = "\n".join(self._sentence(12) for _ in range(ATLAS_TEXTS))
        await self.session.change({"atlas_texts": texts, "atlas_name": f"{self.word} {self.chance.random():.12f}"})
        await self.session.change({}, press="Build")

    async def _lab(self) -> None:
        await self.session.open("lab")
        await self.session.change({}, press="Start")

    async def _long_text(self) -> None:
        await self.session.open("")
        await self.session.change({"Another model": True})
        await self.session.change({"picker.other": str(self.folder)}, press="look")
        await self.session.change({}, press="load")
        while True:
            await self.session.change({"text": self._sentence(LONG)}, press="Inspect")
            self.tally.heavy["one long text"].append(monotonic() - self.begun)
            await asyncio.sleep(self.chance.uniform(*THINKING))
            self.begun = self.silent_since = monotonic()

    # --- what is watched ---

    def _search(self, heard: ForwardMsg, content: bytes) -> None:
        now = monotonic()
        if any(said in content for said in SAID) or heard.WhichOneof("type") == "script_finished":
            self.longest, self.silent_since = max(self.longest, now - self.silent_since), now
        self.was_queued = self.was_queued or b"in the queue" in content
        for broken in BROKEN:
            if (at := content.find(broken)) >= 0:
                self.tally.failures.append(f"{self.word}: {content[max(0, at - 20) : at + 300]!r}")
        for other in self.others:
            if (at := content.find(other)) >= 0:
                self.tally.leaks.append(f"{self.word} was sent {content[max(0, at - 30) : at + 40]!r}")


async def sampled(server: psutil.Process, until: float, memory: list[float], others: list[float]) -> None:
    """Note the server's resident bytes, and the cores that other programs keep busy, every ten seconds."""
    own = psutil.Process()
    busy, mine = psutil.cpu_times(), sum(server.cpu_times()[:2]) + sum(own.cpu_times()[:2])
    begun = monotonic()
    while monotonic() < until:
        await asyncio.sleep(10)
        memory.append(server.memory_info().rss / 2**20)
        now, mine_now = psutil.cpu_times(), sum(server.cpu_times()[:2]) + sum(own.cpu_times()[:2])
        used = (now.user + now.nice + now.system) - (busy.user + busy.nice + busy.system)
        others.append((used - (mine_now - mine)) / (monotonic() - begun))
        busy, mine, begun = now, mine_now, monotonic()


async def a_round(
    address: str, server: psutil.Process, folder: Path, *, minutes: float, heavy: bool, number: int
) -> Tally:
    """Let all visit for some minutes, and say what they saw."""
    tally, until = Tally(), monotonic() + 60 * minutes
    visitors = [
        Visitor(one, address, folder, tally, random.Random(1000 + 100 * (number // 2) + one))
        for one in range(LIGHT + 4)
    ]
    memory: list[float] = []
    others: list[float] = []
    await asyncio.gather(
        sampled(server, until, memory, others), *(visitor.visit(until, heavy=heavy) for visitor in visitors)
    )
    name = "heavy" if heavy else "quiet"
    clicks = [took for took_all in tally.clicks.values() for took in took_all]
    print(f"round {number}, {name}: load {os.getloadavg()[0]:.1f}, others' cores {statistics.median(others):.2f}")
    print(f"  light clicks {described(clicks)}")
    for kind, took in sorted(tally.clicks.items()):
        print(f"    {kind:12} {described(took)}")
    for kind, took in sorted(tally.heavy.items()):
        print(f"    {kind:12} {described(took)}")
    print(f"  longest wait with nothing said {max(tally.unsaid, default=(0.0, 'none'))}, {tally.queued} acts queued")
    print(f"  MB every 10 s: {' '.join(f'{one:.0f}' for one in memory)}")
    print(
        f"  {len(tally.failures)} failures, {len(tally.leaks)} leaks",
        *tally.failures[:8],
        *tally.leaks[:8],
        sep="\n    ",
    )
    sys.stdout.flush()
    return tally


def described(took: list[float]) -> str:
    """Median, ninetieth hundredth and most of some seconds, and how many there are."""
    if not took:
        return "none"
    ninth = sorted(took)[int(0.9 * (len(took) - 1))]
    return f"median {statistics.median(took):.2f} s, p90 {ninth:.2f}, most {max(took):.1f}, n {len(took)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2, help="of a round")
    parser.add_argument("--rounds", type=int, default=2, help="of each kind")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout that is served")
    parser.add_argument("--log", type=Path, help="a file for what the server says")
    arguments = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = Path(place) / "modern"
        modern_bert.save(folder, layers=4)
        environment = {**BUDGETS, "HEADLIGHT_ROOT": place, "HEADLIGHT_ATLASES": f"{place}/atlases"}
        with serve(port=PORT, environment=environment, log=arguments.log, root=arguments.root) as address:
            server = next(one for one in psutil.Process().children() if "streamlit" in " ".join(one.cmdline()))

            async def rounds() -> tuple[list[Tally], list[Tally]]:
                tallies: tuple[list[Tally], list[Tally]] = ([], [])
                await a_round(address, server, folder, minutes=1, heavy=False, number=-1)
                for number in range(2 * arguments.rounds):
                    heavy = number % 2 == 1
                    tally = await a_round(
                        address, server, folder, minutes=arguments.minutes, heavy=heavy, number=number
                    )
                    tallies[heavy].append(tally)
                return tallies

            quiet, heavy = asyncio.run(rounds())
    medians = [
        statistics.median([took for tally in kind for all_took in tally.clicks.values() for took in all_took])
        for kind in (quiet, heavy)
    ]
    unsaid = max((wait for tally in (*quiet, *heavy) for wait in tally.unsaid), default=(0.0, "none"))
    wrong = sum(len(tally.failures) + len(tally.leaks) for tally in (*quiet, *heavy))
    ratio = medians[1] / medians[0]
    print(f"light click, heavy / quiet: {medians[1]:.2f} / {medians[0]:.2f} s = {ratio:.2f}")
    print(f"longest wait with nothing said: {unsaid[0]:.1f} s ({unsaid[1]}); failures and leaks: {wrong}")
    return int(bool(wrong) or ratio > 1.5 or unsaid[0] > 20)


if __name__ == "__main__":
    sys.exit(main())
