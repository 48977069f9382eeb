"""The text that the browser keeps for the reader under a key of its own storage, and its day. Nothing is drawn.

The browser tells the text that it keeps, its day, and what went wrong, if something did: at the start, as another tab
writes, and on a new day. The server says what is to be kept. Whatever comes is a stranger's, see `told`.

keeping.watch(None)                      # guesses; leaves what is there as it is
keeping.watch(text, of=Place("headlight.lesson.0f", most=256 * 1024))
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from inspector.questions import kept
from inspector.views.components import files
from inspector.views.components.clicks import sent

# `known` is what the server knows, by key: a run that says what the browser keeps already asks for no other run.
_WATCH = """
const known = {};
const pad = (number) => String(number).padStart(2, "0");
const day = () => {
  const now = new Date();
  return [now.getFullYear(), pad(now.getMonth() + 1), pad(now.getDate())].join("-");
};
const read = ({ key, most }) => {
  try {
    const text = localStorage.getItem(key) ?? "";
    return text.length > most ? { text: "", problem: "large" } : { text, problem: "" };
  } catch {
    return { text: "", problem: "blocked" };
  }
};
const write = ({ key, drafts, text }) => {
  try {
    if (text) localStorage.setItem(key, text);
    else {
      localStorage.removeItem(key);
      sessionStorage.removeItem(drafts);
    }
    return "";
  } catch (error) {
    return error.name === "QuotaExceededError" ? "full" : "blocked";
  }
};
const mount = ({ data, setStateValue }) => {
  let last = known[data.key] ?? {};
  const tell = (now) => {
    const told = { day: day(), ...now };
    if (JSON.stringify(told) === JSON.stringify(last)) return;
    last = known[data.key] = told;
    setStateValue("told", told);
  };
  const kept = data.text !== null && (data.text !== last.text || last.problem);
  const problem = kept ? write(data) : "";
  if (problem) tell({ text: last.text ?? "", problem });
  else {
    if (kept) last = known[data.key] = { ...last, text: data.text };
    tell(read(data));
  }
  const hear = (event) => (event.key === data.key || event.key === null) && tell(read(data));
  const wake = () => document.hidden || last.problem || tell(read(data));
  addEventListener("storage", hear);
  document.addEventListener("visibilitychange", wake);
  return () => {
    removeEventListener("storage", hear);
    document.removeEventListener("visibilitychange", wake);
  };
};
"""
_KEY = "keeping"
DRAFTS = "headlight.interview"
"""The key of the tab's storage under which the words of an interview stand until they are sent."""
Problem = Literal["", "large", "blocked", "full"]

_mount = files.declared("keeping", _WATCH)


@dataclass(frozen=True)
class Place:
    """A place in the browser's storage. key: its name there; most: the characters that are read of it."""

    key: str
    most: int


GUESSES = Place(kept.KEY, kept.MOST_BYTES)


@dataclass(frozen=True)
class Told:
    """News of the browser: its day, the text that it keeps, "" for none, and what went wrong."""

    day: date
    text: str
    problem: Problem


def told(of: Place = GUESSES) -> Told | None:
    """Return what the browser told last; None until it has, and where it told what no browser of ours would."""
    match sent(_component(of), "told"):
        case {"day": day, "text": str(text), "problem": "" | "large" | "blocked" | "full" as problem}:
            today = kept.day(day)
            return None if today is None else Told(today, text, problem)
    return None


def watch(text: str | None, of: Place = GUESSES) -> None:
    """Keep a text in the browser, "" for none; None leaves what is there as it is."""
    drafts = DRAFTS if of is GUESSES else ""
    data = {"key": of.key, "most": of.most, "drafts": drafts, "text": text}
    _mount(key=_component(of), data=data, height=1, on_told_change=lambda: None)


def _component(of: Place) -> str:
    """Return the key of the component that watches a place, another one for each."""
    return _KEY if of is GUESSES else f"{_KEY} {of.key}"
