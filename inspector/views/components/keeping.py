"""The text that the browser keeps for the reader under one key of its own storage, and its day. Nothing is drawn.

The browser tells the text that it keeps, its day, and what went wrong, if something did: at the start, as another tab
writes, and on a new day. The server says what is to be kept. Whatever comes is a stranger's, see `told`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from inspector.questions import kept
from inspector.views.components import files
from inspector.views.components.clicks import sent

# `last` is what the server knows: a run that says what the browser keeps already asks for no other run.
_WATCH = """
let last = {};
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
  const tell = (now) => {
    const told = { day: day(), ...now };
    if (JSON.stringify(told) === JSON.stringify(last)) return;
    last = told;
    setStateValue("told", told);
  };
  const kept = data.text !== null && (data.text !== last.text || last.problem);
  const problem = kept ? write(data) : "";
  if (problem) tell({ text: last.text ?? "", problem });
  else {
    if (kept) last = { ...last, text: data.text };
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
class Told:
    """News of the browser: its day, the text that it keeps, "" for none, and what went wrong."""

    day: date
    text: str
    problem: Problem


def told() -> Told | None:
    """Return what the browser told last; None until it has, and where it told what no browser of ours would."""
    match sent(_KEY, "told"):
        case {"day": day, "text": str(text), "problem": "" | "large" | "blocked" | "full" as problem}:
            today = kept.day(day)
            return None if today is None else Told(today, text, problem)
    return None


def watch(text: str | None) -> None:
    """Keep a text in the browser, "" for none; None leaves what is there as it is."""
    data = {"key": kept.KEY, "most": kept.MOST_BYTES, "drafts": DRAFTS, "text": text}
    _mount(key=_KEY, data=data, height=1, on_told_change=lambda: None)
