r"""The measured numbers of a question as a reader sees them: in the formula, in the table, and in the needs of checks.

```python
from inspector.questions.filled import filled, shown

filled(r"\frac{Var}{d_k} = <drawn>", {"drawn": 2.9e-4})  # \frac{Var}{d_k} = 2.90\times10^{-4}
shown(0.25, Label(Both("share", "占比"), "%"), "en")  # "25 %"
```
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from inspector.questions.record.both import Both, Language
from inspector.questions.record.checks import NumberCheck, Numbers
from inspector.questions.record.question import Label
from models.formatting import number

_COUNTED = 1e9  # from this size on a whole number is shown in three digits too
_SMALL = 1e-3  # below this size a number with decimals is shown as a power of ten
_SHARE = Label(Both("share", "份额"), "%")
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def filled(formula: str, numbers: Numbers) -> str:
    """Put the measured numbers into a formula, LaTeX, in place of their names: `<name>`."""
    return re.sub(
        r"<([A-Za-z]\w*)>",
        lambda match: _latex(numbers[match[1]]) if match[1] in numbers else match[0],
        formula,
    )


def lines_of(formula: str) -> list[str]:
    r"""Break a formula at its wide spaces, for a narrow page: "a = 1, \qquad b = 2" -> ["a = 1,", "b = 2"].

    A space inside braces or between \left and \right breaks nothing.
    """
    lines, line = [], ""
    for piece in re.split(r"\\q?quad", formula):
        line = rf"{line}\quad{piece}" if line else piece
        if all(line.count(opens) == line.count(closes) for opens, closes in (("{", "}"), (r"\left", r"\right"))):
            lines.append(line.strip())
            line = ""
    return [line for line in [*lines, line.strip()] if line]


def shown(value: float, label: Label | None, language: Language) -> str:
    """Write a number with its unit: three digits, or all digits of a count; "%" is times 100."""
    return _with_unit(value, label, language, _digits)


def needed(check: NumberCheck, labels: Mapping[str, Label], numbers: Numbers, language: Language) -> str:
    """Write what a check needs of its number, with a reader's names and units: "< 5 %".

    Where the bound is another number, its value stands first and then where it comes from: "< 0.0237: 0.5 × “output
    moved without all heads of the layer”".
    """
    label = labels.get(check.number)
    if isinstance(check.bound, str):
        bound = _with_unit(check.times * numbers[check.bound], label, language, _digits)
    else:
        bound = _with_unit(check.bound, label, language, _short)
    if check.relation == "±":
        needs = f"{bound} ± {_with_unit(check.within, label, language, _short)}"
    elif check.relation == "± %":
        needs = f"{bound} ± {_with_unit(check.within, _SHARE, language, _short)}"
    else:
        needs = f"{check.relation} {bound}"
    if not isinstance(check.bound, str):
        return needs
    other = labels[check.bound].name.of(language) if check.bound in labels else check.bound
    times = "" if check.times == 1 else f"{_short(check.times)} × "
    return f"{needs}{'：' if language == 'zh' else ': '}{times}“{other}”"


def by_measured(labels: Mapping[str, Label], numbers: Numbers) -> dict[Both | None, list[str]]:
    """Group the names of the numbers by what was measured: first those of the model that is asked, under None."""
    groups: dict[Both | None, list[str]] = {None: []}
    for name, label in labels.items():
        if name in numbers:
            groups.setdefault(label.of, []).append(name)
    return {of: names for of, names in groups.items() if names}


def brief(value: float) -> str:
    """Write a number in three digits, a very large or small one with a power of ten: "1.56 × 10⁷"."""
    mantissa, _, power = number(value).partition("e")
    return f"{_signed(mantissa)} × 10{str(int(power)).translate(_RAISED)}" if power else _signed(mantissa)


def _with_unit(value: float, label: Label | None, language: Language, digits: Callable[[float], str]) -> str:
    unit = "" if label is None else label.unit
    unit = unit.of(language) if isinstance(unit, Both) else unit
    written = digits(100 * value if unit == "%" else value)
    if unit == "%" and language == "zh":
        return f"{written}%"  # as Chinese writes it
    return f"{written} {unit}" if unit else written


def _short(value: float) -> str:
    """Write a constant that somebody chose, without the zeros at its end: 0.1, 10⁻⁵."""
    mantissa, power = _parts(value)
    mantissa = _signed(mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa)
    raised = f"10{power.translate(_RAISED)}"
    return mantissa if not power else raised if mantissa == "1" else f"{mantissa} × {raised}"


def _digits(value: float) -> str:
    mantissa, power = _parts(value)
    mantissa = _signed(mantissa)
    return f"{mantissa} × 10{power.translate(_RAISED)}" if power else mantissa


def _signed(mantissa: str) -> str:
    """Write the sign of a number below zero as a minus, not as a hyphen."""
    return mantissa.replace("-", "−")


def _latex(value: float) -> str:
    mantissa, power = _parts(value)
    if math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    if math.isnan(value):
        return r"\text{–}"
    digits = mantissa.replace(",", "{,}")
    return rf"{digits}\times10^{{{power}}}" if power else digits


def _parts(value: float) -> tuple[str, str]:
    """Split a number as it is written into mantissa and power of ten; "" for a number without one."""
    whole = math.isfinite(value) and value == int(value)
    if whole and abs(value) < _COUNTED:
        return f"{int(value):,}", ""
    small = 0 < abs(value) < _SMALL
    mantissa, _, power = (f"{value:.2e}" if small else number(value)).partition("e")
    return mantissa, str(int(power)) if power else ""
