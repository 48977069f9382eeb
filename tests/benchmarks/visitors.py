"""24 visitors in real browser sessions: do all get their own, how long do they wait, and does memory come to rest?

    python tests/benchmarks/visitors.py [--minutes 10] [--visitors 24]

Starts the app with budgets so small that they fill in the first minutes, and Chromium with a context for each visitor.
Each goes on until the time is up: opens a link, types a text, goes to another page, takes another model, opens a head,
has a text written, trains in the Lab, leaves in the middle. Every text holds the visitor's own word, and all that the
server sends to a visitor (each message of the websocket, so what is drawn on a canvas too) is searched for the words of
the others: a find is a leak. A failure is an error on the page, in its script or its connection, and a wait over three
minutes. Ends with 1 where there is a failure or a leak, or where memory rose by more than 5 %.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from urllib.parse import quote_plus

sys.path.insert(0, str(Path(__file__).parents[2]))

import psutil
from playwright.async_api import Browser, Error, Page, WebSocket, async_playwright

import models
from tests.benchmarks.running_app import CHROMIUM, FLAGS, serve

PORT = 8661
BUDGETS = {"HEADLIGHT_CACHE_MB": "48", "HEADLIGHT_MAPS_MB": "32", "HEADLIGHT_MEMORY_BYTES": "150MB"}
WORDS = (  # none in the page's prose; so long that chance writes none into a picture's base64
    *("squirrel", "mosquito", "crocodile", "alligator", "labyrinth", "kangaroo", "xylophone", "scorpion", "reindeer"),
    *("nightingale", "greyhound", "stallion", "blacksmith", "orchestra", "cathedral", "lighthouse", "strawberry"),
    *("mushroom", "sapphire", "hurricane", "telescope", "porcelain", "saxophone", "avalanche"),
)
FILLING = ("the", "cat", "sat", "on", "a", "mat", "and", "wanted", "milk", "from", "some", "big", "river", "bank")
PAGES = {  # by their groups in the navigation; the Lab and Generate are acts of their own
    "Attention": ("Attention", "Compare", "What if"),
    "Inside the model": ("Norms", "Positions", "Costs"),
    "Learning": ("Training",),
}
READERS, WRITERS = ("minilm", "minilm-own", "mini-bert", "own-encoder"), ("translator", "own-decoder")
IDLE = ".stApp[data-test-script-state='notRunning']"
ARRIVALS, PATIENCE = 60.0, 180.0  # seconds in which all come, and that a visitor waits at most
# Seconds that a reader looks at what was drawn, at least and at most. The browsers share the cores with the server and
# take 2 to 4 seconds of a core for an act, several times what the server takes: with less rest, two cores only measure
# how long Chromium waits for itself. For the same reason nothing is animated.
LOOKING = 30.0, 90.0
STILL = """addEventListener("DOMContentLoaded", () => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("*, *::before, *::after { animation: none !important; transition: none !important }");
  document.adoptedStyleSheets.push(sheet);
})"""
BROKEN = ("[data-testid=stException]", "text=Cannot be shown", "text=Connection error", "text=takes more memory")


@dataclass
class Tally:
    """The counts of what all visitors saw."""

    waits: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    queued: int = 0
    messages: int = 0
    missing: int = 0


class Visitor:
    """A browser context that acts until the time is up."""

    def __init__(self, number: int, address: str, tally: Tally) -> None:
        self.word, self.address, self.tally = WORDS[number % len(WORDS)], address, tally
        self.others = tuple(word.encode() for word in WORDS if word != self.word)
        self.chance, self.texts, self.own_seen = random.Random(number), 0, False
        self.sockets: set[WebSocket] = set()  # of the open page; a page that was left closes its own, maybe late
        self.page: Page

    async def visit(self, browser: Browser, until: float) -> None:
        """Act until the time is up; whatever goes wrong is noted, and the visitor comes again."""
        self.begun = monotonic()
        await asyncio.sleep(self.chance.uniform(0, ARRIVALS))
        context = await browser.new_context(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
        await context.add_init_script(STILL)
        self.page = await context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.on("websocket", self._listen)
        self.page.on("pageerror", lambda error: self._fail(f"script: {error}"))
        await self._timed("open", self._open)
        while monotonic() < until:
            kinds, weights = zip(*self._choices().items(), strict=True)
            act = self.chance.choices(kinds, weights)[0]
            await self._timed(act.__name__.strip("_"), act)
            await asyncio.sleep(self.chance.uniform(*LOOKING))
        self.sockets.clear()
        await context.close()

    def _choices(self) -> dict[Callable[[], Awaitable[None]], int]:
        return {
            self._text: 6,
            self._page: 4,
            self._model: 2,
            self._head: 4,
            self._open: 2,
            self._write: 2,
            self._lab: 1,
        }

    async def _timed(self, kind: str, act: Callable[[], Awaitable[None]]) -> None:
        begun = monotonic()
        self.own_seen = False
        try:
            await act()
            await self.page.wait_for_timeout(150)
            await self.page.locator(IDLE).and_(self.page.locator(":has(h1)")).wait_for(state="attached")
            self.tally.waits[kind].append(monotonic() - begun)
            for broken in BROKEN:
                if await self.page.locator(broken).count():
                    said = await self.page.locator("[data-testid=stText], [data-testid=stAlert]").all_inner_texts()
                    self._fail(f"{kind}, {self.page.url[len(self.address) :][:40]}: {' / '.join(said)[:400]}")
            if kind in ("open", "text", "write") and not self.own_seen:
                self.tally.missing += 1
        except Error as error:
            self._fail(f"{kind}: {str(error)[:200]}")
            await self._open()

    # --- what is done ---

    def _sentence(self) -> str:
        self.texts += 1
        length = self.chance.choice((4, 8, 16, 40, 120, 200))
        return f"The {self.word} " + " ".join(self.chance.choices(FILLING, k=length))

    async def _go(self, path: str, *, model: str, text: str) -> None:
        self.sockets.clear()
        await self.page.goto(f"{self.address}{path}?model={model}&text={quote_plus(text[:900])}")

    async def _open(self) -> None:
        path = self.chance.choice(("", "compare", "what_if", "layernorm", "positions", "costs"))
        await self._go(path, model=self.chance.choice(READERS + WRITERS), text=self._sentence())

    async def _write(self) -> None:
        text = f"The {self.word} " + " ".join(self.chance.choices(FILLING, k=6))
        await self._go("generate", model=self.chance.choice(WRITERS), text=text)

    async def _text(self) -> None:
        await self.page.get_by_label("Text", exact=True).fill(self._sentence())
        await self.page.get_by_role("button", name="Inspect", exact=True).first.click()

    async def _page(self) -> None:
        await self._turn_to(self.chance.choice([name for names in PAGES.values() for name in names]))

    async def _turn_to(self, name: str) -> None:
        group = next(group for group, names in PAGES.items() if name in names)
        await self.page.get_by_test_id("stTopNav").get_by_role("button", name=group).click()
        await self.page.get_by_role("menuitem", name=name).click()

    async def _model(self) -> None:
        titles = {card.id: card.title for card in models.catalogue()}
        await self.page.get_by_label("Model", exact=True).first.click()
        await self.page.get_by_role("option", name=titles[self.chance.choice(READERS)], exact=True).first.click()

    async def _head(self) -> None:
        cells = self.page.get_by_role("gridcell").and_(self.page.locator(":visible"))
        if count := await cells.count():
            await cells.nth(self.chance.randrange(count)).click(force=True)

    async def _lab(self) -> None:
        await self.page.get_by_test_id("stTopNav").get_by_role("button", name="Learning").click()
        await self.page.get_by_role("menuitem", name="Lab").click()
        await self.page.get_by_role("button", name="Start", exact=True).click()
        await self.page.wait_for_timeout(1000 * self.chance.uniform(1, 12))
        if await self.page.get_by_text("in the queue").count():
            self.tally.queued += 1
        stop = self.page.get_by_role("button", name="Stop", exact=True)
        if await stop.count() and await stop.first.is_enabled() and self.chance.random() < 0.5:
            await stop.first.dispatch_event("click")  # the training may end between the look and the click
        else:  # leaves in the middle
            await self._page()

    # --- what is watched ---

    def _listen(self, socket: WebSocket) -> None:
        self.sockets.add(socket)
        socket.on("framereceived", self._search)
        socket.on("close", self._closed)

    def _closed(self, socket: WebSocket) -> None:
        if socket in self.sockets:
            self.sockets.remove(socket)
            self._fail(f"the connection was closed at {monotonic() - self.begun:.0f} s")

    def _search(self, message: str | bytes) -> None:
        message = message if isinstance(message, bytes) else message.encode()
        self.tally.messages += 1
        self.own_seen = self.own_seen or self.word.encode() in message
        for other in self.others:
            if (found := message.find(other)) >= 0:
                beside = message[max(0, found - 30) : found + 40]
                self.tally.leaks.append(f"{self.word} was sent {beside!r}")

    def _fail(self, what: str) -> None:
        self.tally.failures.append(f"{self.word}: {what}")


async def sampled(server: psutil.Process, until: float) -> list[tuple[float, int]]:
    """The seconds since the start and the resident bytes of the server and its children, each second."""
    begun, samples = monotonic(), []
    while monotonic() < until:
        processes = [server, *server.children(recursive=True)]
        samples.append((monotonic() - begun, sum(process.memory_info().rss for process in processes)))
        await asyncio.sleep(1)
    return samples


async def run(
    address: str, server: psutil.Process, *, visitors: int, minutes: float
) -> tuple[Tally, list[tuple[float, int]]]:
    tally, until = Tally(), monotonic() + 60 * minutes
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        everyone = [Visitor(number, address, tally).visit(browser, until) for number in range(visitors)]
        samples, *_ = await asyncio.gather(sampled(server, until), *everyone)
        await browser.close()
    return tally, samples


def median_between(samples: list[tuple[float, int]], first: float, last: float) -> float:
    """Give the median of the bytes between two moments, in seconds."""
    return statistics.median([size for second, size in samples if first <= second <= last] or [0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--log", type=Path, help="a file for what the server says")
    parser.add_argument("--visitors", type=int, default=24, choices=range(1, len(WORDS) + 1), metavar="1-24")
    arguments = parser.parse_args()
    with serve(port=PORT, environment=BUDGETS, log=arguments.log) as address:
        server = next(one for one in psutil.Process().children() if "streamlit" in " ".join(one.cmdline()))
        tally, samples = asyncio.run(run(address, server, visitors=arguments.visitors, minutes=arguments.minutes))
    print(f"{arguments.visitors} visitors, {arguments.minutes:g} minutes, {tally.messages} messages searched")
    print(f"{'seconds':>10} {'times':>6} {'median':>7} {'p90':>7} {'most':>7}")
    for kind, waits in sorted(tally.waits.items()):
        ninth = sorted(waits)[int(0.9 * (len(waits) - 1))]
        print(f"{kind:>10} {len(waits):>6} {statistics.median(waits):>7.1f} {ninth:>7.1f} {max(waits):>7.1f}")
    minutes = [median_between(samples, start, start + 60) for start in range(0, int(60 * arguments.minutes), 60)]
    print("MB by minute:", *(f"{size / 2**20:.0f}" for size in minutes))
    unit = 6 * arguments.minutes  # seconds of a tenth of the time
    before = median_between(samples, 5 * unit, 7 * unit)
    rise = median_between(samples, 8 * unit, 10 * unit) / before
    print(f"memory, last two tenths of the time / tenths six and seven: {rise:.3f}")
    print(
        f"{len(tally.failures)} failures, {len(tally.leaks)} leaks, {tally.queued} seen waiting in the queue,", end=" "
    )
    print(f"{tally.missing} pages without the visitor's own word")
    for what, times in Counter([*tally.failures, *tally.leaks]).most_common(40):
        print(f"  {times} x {what}")
    return int(bool(tally.failures or tally.leaks) or rise > 1.05)


if __name__ == "__main__":
    sys.exit(main())
