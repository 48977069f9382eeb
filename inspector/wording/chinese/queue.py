"""The sentence for a visitor who waits for others, in Chinese."""

from __future__ import annotations


def waits(what: str, place: int, before: tuple[str, ...], seconds: float | None) -> str:
    """Say a work's place in the queue, and about how long it takes; the works' English names are left out."""
    time = "" if seconds is None else f"，约需等 {max(1, round(seconds))} 秒"
    return f"正在等待其他访问者的工作：你排在第 {place} 位{time}。修改输入或换页会放弃排队。"
