"""The pictures that README and docs/ show, and README's moving picture, taken from the running page.

    make pictures                                       # all
    .venv/bin/python -m docs.take_pictures costs film   # some

Serves the page by itself; needs the requirements of requirements-dev.txt and a Chromium on the machine. A picture has
256 colours at most, which makes it a third as large and looks the same.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from tests.benchmarks.running_app import CHROMIUM, FLAGS, serve

FOLDER = Path(__file__).parent / "screenshots"
PORT = 8717
SLOW = 120_000  # ms
EXACT = "Exact on this text"


@dataclass(frozen=True)
class View:
    """A view of the page. path: with its query; scheme: of colours; size: of the window in pixels.

    ready: words that stand on the page once it is drawn; prepare: what is pressed then.
    """

    path: str
    size: tuple[int, int]
    scheme: str = "light"
    ready: str = EXACT
    prepare: Callable[[Page], None] = lambda page: None


def _train(page: Page) -> None:
    page.get_by_role("button", name="Start").click()
    page.get_by_text("One text, and where each side looks").first.wait_for(state="attached", timeout=SLOW)


def _show_verdict(page: Page) -> None:
    page.get_by_role("button", name="Just show me").click()
    page.get_by_text("What would change this verdict").wait_for(state="attached", timeout=SLOW)


README = (1280, 960)
"""The size of the six that README sets side by side."""
TRANSLATED = "?model=translator&stream=cross&text=He+has+been+sick+since+last+week.&layer=1&head=5"
VIEWS = {
    "attention": View("", (1440, 900)),
    "attention-dark": View("?hide=true&words=true&layer=1&head=7", (1440, 900), "dark"),
    "why": View("?layer=1&head=7&query=5&key=6&why=true&why_sorted=true", (1440, 1900)),
    "cross": View(TRANSLATED, (1440, 900)),
    "phone": View("", (390, 1250)),
    "compare": View("compare", (1440, 1200)),
    "scores": View("scores?layer=1&head=7", (1440, 1500)),
    "hide": View("what_if?model=mini-bert", README),
    "block": View("block?model=mini-gpt&block_step=13", README),
    "layernorm": View("layernorm", README),
    "positions": View("positions", README, "dark"),
    "costs": View("costs", README),
    "generate": View("generate?model=translator&text=The+cat+is+sleeping+on+the+bed.", (1440, 1300), "dark"),
    "time": View("time?section=RNN%2C+LSTM%2C+GRU", (1440, 1250)),
    "questions": View("questions?q=16", README, ready="Questions", prepare=_show_verdict),
    "practice": View("practice?task=3", README, ready="To write"),
    "lessons": View("lessons?lesson=evening&step=3", (1440, 620), ready="Your answers"),
    "tokens": View("tokens?section=How+pieces+are+learned", (1440, 1250)),
    "batch": View("batch", (1440, 1000)),
    "lab": View("lab", (1440, 2000), ready="Lab", prepare=_train),
    "training": View("training?run=mini-bert", (1440, 1500), ready="Training"),
    "atlas": View("atlas?by=obj+governor&figure=Relations", (1440, 1300), ready="4,078 texts"),
}
"""Each picture by its name."""


def take(browser: Browser, address: str, name: str) -> None:
    """Take one picture of VIEWS."""
    view = VIEWS[name]
    width, height = view.size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=view.scheme)
    page.set_default_timeout(SLOW)
    page.goto(address + view.path)
    page.get_by_text(view.ready).first.wait_for(state="attached", timeout=SLOW)
    view.prepare(page)
    _rest(page)
    page.wait_for_timeout(3000)  # charts fade in
    _few_colours(_seen(page)).save(FOLDER / f"{name}.png", optimize=True)
    page.close()


def _rest(page: Page) -> None:
    """Wait until no script of the page runs and all that it draws has come."""
    page.wait_for_timeout(300)
    page.locator(".stApp[data-test-script-state='notRunning']").wait_for(state="attached", timeout=SLOW)
    page.get_by_test_id("stSkeleton").first.wait_for(state="hidden", timeout=SLOW)
    page.wait_for_timeout(700)


def _seen(page: Page) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def _few_colours(picture: Image.Image) -> Image.Image:
    """Choose 256 colours such that none of the picture's is far from all of them."""
    return picture.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=4, dither=Image.Dither.NONE)


# --- the moving picture ------------------------------------------------------------------------------------------

SENTENCE = "The animal didn't cross the street because it was too tired."
HEAD = "layer 3, head 1,"  # which finds what "it" is
QUERY, KEY, TOKENS = 10, 2, 16  # "it", "animal", and all tokens of the sentence
WINDOW, SIGHT, WIDTH = (1440, 900), (1150, 720), 1000  # pixels of the window, of its part in sight, and of the film
POINTER = [(0, 0), (0, 17), (4, 13), (7, 19), (10, 18), (7, 12), (12, 12)]


@dataclass
class Film:
    """A page as it is used: pictures of a part of the window, each with its milliseconds, and the mouse's pointer."""

    page: Page
    frames: list[Image.Image] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    mouse: tuple[float, float] = (600.0, 520.0)
    corner: tuple[float, float] = (0.0, 40.0)  # of the part in sight, left and top

    def hold(self, milliseconds: int) -> None:
        """Show what is seen now for a while."""
        picture = _seen(self.page)
        x, y = self.mouse
        ImageDraw.Draw(picture).polygon(
            [(x + dx, y + dy) for dx, dy in POINTER], fill="black", outline="white", width=1
        )
        (left, top), (width, height) = self.corner, SIGHT
        size = (WIDTH, WIDTH * height // width)
        box = (left, top, left + width, top + height)
        self.frames.append(picture.resize(size, Image.Resampling.LANCZOS, box=box))
        self.times.append(milliseconds)

    def pan(self, left: float, top: float, *, scroll: float = 0, steps: int = 6) -> None:
        """Bring another part of the window in sight while the page scrolls by so many pixels."""
        across, down = (left - self.corner[0]) / steps, (top - self.corner[1]) / steps
        for _ in range(steps):
            self.corner = self.corner[0] + across, self.corner[1] + down
            if scroll:
                self.page.mouse.wheel(0, scroll / steps)
                self.page.wait_for_timeout(150)
            self.hold(70)

    def move(self, x: float, y: float, *, steps: int = 6) -> None:
        """Move the mouse, slower towards the end."""
        across, down = x - self.mouse[0], y - self.mouse[1]
        for left in range(steps - 1, -1, -1):
            rest = (left / steps) ** 2
            self.mouse = x - across * rest, y - down * rest
            self.page.mouse.move(*self.mouse)
            self.page.wait_for_timeout(60)  # what lights up under the mouse
            self.hold(60)

    def click(self, place: Locator) -> None:
        """Move to a place and press; what the page does then is waited for without being filmed."""
        box = place.bounding_box()
        assert box is not None, place
        self.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.hold(300)
        self.page.mouse.click(*self.mouse)
        _rest(self.page)

    def save(self, path: Path) -> None:
        """Write an animated WebP that begins anew at its end."""
        options = {"duration": self.times, "loop": 0, "quality": 80, "method": 6, "minimize_size": True}
        self.frames[0].save(path, save_all=True, append_images=self.frames[1:], **options)


def film(browser: Browser, address: str) -> None:
    """Take the moving picture: a sentence is pasted, a head clicked, a row looked at, and one of its weights proven."""
    width, height = WINDOW
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
    page.set_default_timeout(SLOW)
    page.goto(address)
    page.get_by_text(EXACT).first.wait_for(state="attached", timeout=SLOW)
    _rest(page)
    shown = Film(page)
    shown.hold(900)
    text = page.get_by_label("Text", exact=True)
    shown.click(text)
    text.select_text()
    shown.hold(400)
    text.fill(SENTENCE)
    shown.hold(900)
    shown.click(page.get_by_role("button", name="Inspect"))
    shown.hold(900)
    shown.pan(290, 60)
    shown.click(page.get_by_role("gridcell", name=HEAD))
    shown.hold(1200)
    plot = page.locator(".hl-head .plot")
    shown.move(*_cell(plot, QUERY, KEY + 7))
    shown.hold(400)
    shown.move(*_cell(plot, QUERY, KEY))
    shown.hold(1500)
    page.mouse.click(*shown.mouse)
    _rest(page)
    shown.pan(290, 180)
    shown.click(page.get_by_text("Why this weight").first)
    proof = page.get_by_text("Rebuilt from q and k alone")
    box = proof.bounding_box()
    assert box is not None
    shown.pan(290, 180, scroll=box["y"] - 840)
    page.wait_for_timeout(1500)  # charts fade in
    shown.hold(3500)
    shown.save(FOLDER / "headlight.webp")
    page.close()


def _cell(plot: Locator, query: int, key: int) -> tuple[float, float]:
    box = plot.bounding_box()
    assert box is not None
    return box["x"] + (key + 0.5) / TOKENS * box["width"], box["y"] + (query + 0.5) / TOKENS * box["height"]


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with serve(port=PORT, environment={"HF_HUB_OFFLINE": "1"}) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in names or [*VIEWS, "film"]:
            film(browser, address) if name == "film" else take(browser, address, name)


if __name__ == "__main__":
    main(sys.argv[1:])
