"""Pressing every control of a page: buttons, downloads, popovers, expanders, tabs, toggles, and those of components.

pressed = press(page, "http://127.0.0.1:8501", "/scores?model=minilm")
pressed.counts, pressed.failures  # {"button": 12, "download": 5, ...}, ["Save: Cannot be shown. ..."]
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Download, Page, TimeoutError

from tests.browser.conftest import SLOW, rests

MOST = 400  # looks at one view: a press each, or a dialog closed
ALIKE = 3  # of controls that differ by their words alone, as the tokens of a text, this many are pressed
MENU = "Slide and files of"  # begins the words of every figure's menu
LONG = 600_000  # ms: all questions, or every head left out of a model, beside whatever else the machine does
PATIENCE = 3_000  # ms: until then a control can be pressed, or a dialog that came meanwhile lies over it
TRIES = 20
HELD = "button, label, summary"
"""Controls that a menu may hold."""
FAILURES = ("in a way that Headlight does not know", "Traceback (most recent call last)", "Oh no")
"""Words that stand in a page only where something failed that nobody thought of."""

# Every control that can be pressed now: what it is, its words, and the place that it has in the page's source.
FIND = """() => {
  const OFF = "[inert], [aria-disabled=true], [data-disabled=true]";
  const kinds = {
    "[data-testid=stDownloadButton] button": "download",
    "[data-testid=stPopover] button": "popover",
    "[data-testid=stExpander] summary": "expander",
    "[role=tab]": "tab",
    "[data-testid=stButtonGroup] [role=radio]": "tab",
    "[data-testid=stButtonGroup] button": "choice",
    "[data-testid=stCheckbox] label": "toggle",
    "[data-testid=stButton] button": "button",
  };
  const roots = [document];
  for (const host of document.querySelectorAll("[data-testid=stBidiComponentIsolated]"))
    if (host.shadowRoot) roots.push(host.shadowRoot);
  for (const root of roots) root.querySelectorAll("[data-pressing]").forEach((one) => delete one.dataset.pressing);
  const seen = new Set(), found = [];
  const add = (element, kind) => {
    if (seen.has(element) || element.closest("[data-testid=stSidebar], [data-testid=stHeader]")) return;
    seen.add(element);
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height || element.disabled || element.closest(OFF)) return;
    const host = element.getRootNode().host ?? element;
    const keyed = host.closest("[class*=st-key-]");
    const key = [...(keyed?.classList ?? [])].find((name) => name.startsWith("st-key-")) ?? "";
    const words = (element.getAttribute("aria-label") ?? element.innerText).replace(/\\s+/g, " ").trim().slice(0, 60);
    element.dataset.pressing = `${found.length}`;
    found.push({ kind, words, key, layer: element.closest("[role=dialog], [data-testid=stPopoverBody]") ? 1 : 0 });
  };
  for (const root of roots) {
    for (const [selector, kind] of Object.entries(kinds)) root.querySelectorAll(selector).forEach((e) => add(e, kind));
    if (root !== document) root.querySelectorAll("button, [role=button]").forEach((e) => add(e, "in a component"));
  }
  return found;
}"""


@dataclass
class Pressed:
    """Counts of what was pressed of a view by kind, and of downloads that came; what failed, by control and words."""

    counts: Counter[str] = field(default_factory=Counter)
    downloads: int = 0
    failures: list[str] = field(default_factory=list)
    left: int = 0


def press(page: Page, url: str, path: str, *, thorough: bool) -> Pressed:
    """Press all that a view has, in the order of the page, and what comes to light by it; each control once.

    What lies over the page, a popover or a dialog, is pressed first and then closed. A press that leads to another page
    is taken back by opening the view again. thorough: what every figure has, its menu and what that holds, is
    pressed at each figure, not at one of the page.
    """
    pressed = Pressed()
    done: Counter[tuple[str, str]] = Counter()
    names: set[tuple[str, str, str]] = set()
    tries: Counter[tuple[str, str, str]] = Counter()
    arrived: list[Download] = []

    def hear(download: Download) -> None:
        arrived.append(download)

    page.on("download", hear)
    try:
        _open(page, url + path)
        for _ in range(MOST):
            fresh = [
                (at, control)
                for at, control in enumerate(page.evaluate(FIND))
                if (control["kind"], control["key"], control["words"]) not in names
                and (control["kind"] == "tab" or done[_alike(control, thorough)] < (ALIKE if thorough else 1))
            ]
            # A slide takes the menu away that it is opened from, so it comes last there.
            over = sorted(
                (pair for pair in fresh if pair[1]["layer"]), key=lambda pair: pair[1]["key"].endswith("-slide")
            )
            if not over and page.locator("[role=dialog], [data-testid=stPopoverBody]").count():
                page.keyboard.press("Escape")
                page.wait_for_timeout(50)
                try:
                    page.locator("[role=dialog]").first.wait_for(state="detached", timeout=PATIENCE)
                except TimeoutError:  # a dialog that Escape does not close
                    page.get_by_role("button", name="Close").first.click(timeout=PATIENCE)
                continue
            if not fresh:
                return pressed
            # A tab takes away what stands under the open one, so tabs come last, the inner before the outer.
            here = [pair for pair in fresh if pair[1]["kind"] != "tab"]
            at, control = (over or here or fresh[::-1])[0]
            kind, key, words = control["kind"], control["key"], control["words"]
            try:
                page.locator(f"[data-pressing='{at}']").first.click(timeout=PATIENCE)
            except TimeoutError:  # drawn anew, or under a dialog that came meanwhile: the page is looked at again
                tries[kind, key, words] += 1
                if tries[kind, key, words] < TRIES:
                    continue
                pressed.failures.append(f"{path} {kind} {words!r} {key}: it cannot be pressed")
            names.add((kind, key, words))
            done[_alike(control, thorough)] += 1
            pressed.counts[kind] += 1
            _settled(page)
            if kind == "popover":
                _opens(page)
            if kind == "download":
                before = pressed.downloads
                pressed.downloads += _arrives(page, arrived, expected=pressed.downloads + 1)
                if before == pressed.downloads:
                    pressed.failures.append(f"{path} {kind} {words!r} {key}: no file came")
            if failure := _failure(page):
                pressed.failures.append(f"{path} {kind} {words!r} {key}: {failure}")
                _open(page, url + path)
            elif urlsplit(page.url).path != urlsplit(url + path).path:
                _open(page, url + path)
        pressed.left = len(fresh)
        return pressed
    finally:
        page.remove_listener("download", hear)


def _failure(page: Page) -> str:
    """Give the words around a failure that the page shows, "" where it shows none."""
    text = page.inner_text("body").replace("\n", " ")
    place = next((text.index(failure) for failure in FAILURES if failure in text), None)
    return "" if place is None else text[max(0, place - 120) : place + 160]


def _alike(control: dict[str, str], thorough: bool) -> tuple[str, str]:
    """Give what controls that do the same have in common: their kind and their place, or their words."""
    of_place = control["kind"] == "choice" or thorough
    words = MENU if control["kind"] == "popover" and MENU in control["words"] else control["words"]
    return control["kind"], control["key"] if of_place and control["key"] else words


def _open(page: Page, address: str) -> None:
    page.goto(address)
    page.locator(".stApp[data-test-script-state='notRunning']").wait_for(state="attached", timeout=SLOW)
    rests(page)


def _settled(page: Page) -> None:
    """Wait for what a press began, if it began anything: a run of the script starts within a few frames."""
    page.wait_for_timeout(60)
    page.evaluate("() => document.fullscreenElement && document.exitFullscreen()")
    page.locator(".stApp[data-test-script-state='notRunning']").wait_for(state="attached", timeout=LONG)


def _opens(page: Page) -> None:
    """Wait for what a menu holds: a run of the script may bring it, later than a busy machine begins the run."""
    try:
        page.locator(f"[data-testid=stPopoverBody] :is({HELD})").first.wait_for(timeout=PATIENCE)
    except TimeoutError:  # it holds words alone
        return
    _settled(page)


def _arrives(page: Page, arrived: list[Download], *, expected: int) -> int:
    """Wait for one more download and read it -> 1 where it came with bytes, else 0."""
    for _ in range(600):
        if len(arrived) >= expected:
            return int(arrived[-1].path().stat().st_size > 0)
        page.wait_for_timeout(50)
    return 0
