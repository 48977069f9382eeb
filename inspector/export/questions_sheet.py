"""A sheet of questions to print: one HTML file without a script or a request, in English and Chinese.

python -m inspector.export.questions_sheet sheet.html --model minilm --text "The cat sat." [--only 16,35]
python -m inspector.export.questions_sheet questions.apkg --language zh      cards for Anki; .csv: a table

Radio buttons and CSS switch the language, so that the file needs no script at all.
"""

from __future__ import annotations

import datetime
import html
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from urllib.parse import urlencode

from inspector.components import standalone
from inspector.components.document import document
from inspector.export import markdown
from inspector.plain import command
from inspector.questions.asking import Answer
from inspector.questions.filled import by_measured, filled, needed, shown
from inspector.questions.index import THEMES
from inspector.questions.record.both import LANGUAGES, Language
from inspector.questions.record.question import ClaimPart, PageLink, PublishedNumber
from inspector.questions.record.reasons import reason
from inspector.wording import in_language

WORDS: dict[Language, ModuleType] = {language: in_language(language, "questions.sheet") for language in LANGUAGES}
PAGE: dict[Language, ModuleType] = {language: in_language(language, "questions.page") for language in LANGUAGES}
TAGS: dict[Language, str] = {"en": "en", "zh": "zh-Hans"}
NAMES: dict[Language, str] = {"en": "English", "zh": "中文"}
_MARKS = {"true": "✓", "false": "✗", "partly": "≈", "conditions": "≈", "failed": "–"}
_TEXT = 1000  # characters of a text that the sheet quotes
_STYLE = """
:root { --quiet: color-mix(in srgb, var(--st-text-color) 68%, var(--st-background-color));
  --yes: #1a7f4b; --no: #c0362c; --half: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --yes: #5fd39a; --no: #ff8f85; --half: #f0b657; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--st-background-color); color: var(--st-text-color);
  font: 15px/1.5 var(--page-font), "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif;
  overflow-wrap: anywhere; }
main, .switch { max-width: 860px; margin: 0 auto; padding: 0 16px; }
.switch { padding-top: 20px; border: 0; }
.switch label { margin-right: 16px; }
body:has(#en:checked) [lang="zh-Hans"].l, body:has(#zh:checked) [lang="en"].l { display: none; }
h1 { font-size: 25px; margin: 14px 0 4px; }
h2 { font-size: 20px; margin: 38px 0 10px; border-bottom: 1px solid var(--st-border-color); padding-bottom: 4px; }
h3 { font-size: 16px; margin: 0 0 4px; }
h4 { font-size: 13px; margin: 8px 0 0; color: var(--quiet); font-weight: 600; }
p, ul, dl, table { margin: 2px 0 4px; }
a { color: var(--st-primary-color); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; }
dt, .small { color: var(--quiet); }
dd { margin: 0; unicode-bidi: plaintext; white-space: pre-wrap; }
nav ul { list-style: none; padding: 0; columns: 2 330px; column-gap: 28px; }
nav li { break-inside: avoid; padding-left: 2.4em; text-indent: -2.4em; }
nav h3 { margin-top: 14px; }
body:has(#short:checked) .more { display: none; }
article { border: 1px solid var(--st-border-color); border-radius: 8px; padding: 12px 14px; margin: 12px 0; }
body:has(#both:checked) article .l + .l { border-top: 1px dashed var(--st-border-color); margin-top: 14px;
  padding-top: 12px; }
.badge { font-weight: 600; white-space: nowrap; }
.true { color: var(--yes); } .false { color: var(--no); } .partly, .conditions { color: var(--half); }
.failed { color: var(--quiet); }
ul.parts { list-style: none; padding: 0; }
ul.parts li { padding-left: 1.5em; text-indent: -1.5em; }
ul.parts .small { display: block; text-indent: 0; }
.small { font-size: 13px; }
table { border-collapse: collapse; font-size: 14px; }
td, th { text-align: left; padding: 1px 16px 1px 0; border-bottom: 1px solid var(--st-border-color);
  vertical-align: top; font-weight: 400; }
td, th { overflow-wrap: break-word; }
td { font-variant-numeric: tabular-nums; }
td:nth-child(2), th[scope=col] { white-space: nowrap; }
th[scope=col] { color: var(--quiet); font-size: 13px; }
.formula { overflow-x: auto; padding: 4px 0; }
code { font-size: 13px; }
@media print {
  @page { size: A4; margin: 15mm 14mm; }
  :root { --st-background-color: #fff; --st-text-color: #111; --st-border-color: #bbb; --st-primary-color: #111;
    --yes: #0b5e34; --no: #962219; --half: #6b4600; }
  body { font-size: 10.5pt; line-height: 1.4; }
  .switch { display: none; }
  main { max-width: none; padding: 0; }
  h2, h3, h4, h3 + p, p.badge { break-after: avoid; page-break-after: avoid; }
  nav a { color: inherit; text-decoration: none; }
  p, table, ul.parts li, .formula { break-inside: avoid; page-break-inside: avoid; }
  article { border-width: 0 0 1px; border-radius: 0; padding: 8px 0; }
  .formula { overflow: visible; }
}
"""


def sheet(
    answers: Sequence[Answer],
    *,
    model: str,
    text: str,
    language: Language | None = None,
    date: str | None = None,
    address: str = "",
) -> str:
    """Write answers as one HTML page that needs no server, script or network.

    model, text: of the reader, at the page's top. language: shown at first, both where None. date: of the measuring,
    today's where None. address: of the Headlight whose pages the answers lead to, "" where it is not known.

    ```python
    answers = list(questions.ask_all(questions.Subject(loaded, text)))
    Path("sheet.html").write_text(inspector.export.sheet(answers, model=loaded.card.id, text=text), encoding="utf-8")
    ```
    """
    by_number = {answer.question.number: answer for answer in answers}
    themes = [
        (theme, [by_number[question.number] for question in theme.questions if question.number in by_number])
        for theme in THEMES
    ]
    themes = [(theme, answers_of) for theme, answers_of in themes if answers_of]
    facts = {"MODEL": model, "TEXT": _short(text), "DATE": date or datetime.date.today().isoformat()}
    top = "".join(_in(language, _top(answers, facts, language)) for language in LANGUAGES)
    contents = "".join(
        f'<h3><a href="#{html.escape(theme.id)}">{_both(theme.name.of)}</a></h3><ul>'
        + "".join(
            f'<li><a href="#q{answer.question.number}">{answer.question.number}</a> {_mark(answer)} '
            f"{_both(answer.question.asked.of)}</li>"
            for answer in answers_of
        )
        + "</ul>"
        for theme, answers_of in themes
    )
    body = "".join(
        f'<section><h2 id="{html.escape(theme.id)}">{_both(theme.name.of)}</h2>'
        f"{''.join(_article(answer, address) for answer in answers_of)}</section>"
        for theme, answers_of in themes
    )
    css = f"{standalone.variables()}{_STYLE}"
    switch = "".join(
        f'<label><input type="radio" name="language" id="{name}"{" checked" if name == (language or "both") else ""}> '
        f'<span lang="{tag}">{label}</span></label>'
        for name, tag, label in (
            *((language, TAGS[language], NAMES[language]) for language in LANGUAGES),
            ("both", TAGS["en"], f"{WORDS['en'].BOTH} / <span lang='{TAGS['zh']}'>{WORDS['zh'].BOTH}</span>"),
        )
    )
    lengths = "".join(
        f'<label><input type="radio" name="length" id="{name.lower()}"{" checked" if name == "LONG" else ""}> '
        f"{_both(partial(_word, name))}</label>"
        for name in ("SHORT", "LONG")
    )
    body = f"""<fieldset class="switch" aria-label="{WORDS["en"].LANGUAGE} / {WORDS["zh"].LANGUAGE}">{switch}</fieldset>
<fieldset class="switch" aria-label="{WORDS["en"].LENGTH} / {WORDS["zh"].LENGTH}">{lengths}</fieldset>
<main>
{top}
<nav><h2>{_both(lambda language: WORDS[language].CONTENTS)}</h2>{contents}</nav>
{body}
</main>"""
    title = f"{WORDS['en'].TITLE} · {WORDS['zh'].TITLE}"
    return document(body, title=title, css=css, language=TAGS[language or "en"])


def _word(name: str, language: Language) -> str:
    word: str = getattr(WORDS[language], name)
    return word


def _top(answers: Sequence[Answer], facts: dict[str, str], language: Language) -> str:
    words = WORDS[language]
    counts = Counter(answer.verdict or "failed" for answer in answers)
    tally = words.tally(counts)
    rows = "".join(f"<dt>{getattr(words, name)}</dt><dd>{html.escape(fact)}</dd>" for name, fact in facts.items())
    about = html.escape(
        f"{words.about(len(answers))} {tally}" if language == "en" else words.about(len(answers)) + tally
    )
    return f"<h1>{words.TITLE}</h1><p>{about}</p><dl>{rows}</dl>"


def _article(answer: Answer, address: str) -> str:
    blocks = "".join(_in(language, _block(answer, language, address)) for language in LANGUAGES)
    return f'<article id="q{answer.question.number}">{blocks}</article>'


def _block(answer: Answer, language: Language, address: str) -> str:
    question, words, page = answer.question, WORDS[language], PAGE[language]
    judged, verdict = answer.verdict or "failed", verdict_of(answer, language)
    lines = [
        f"<h3>{html.escape(page.heading(question.number, question.asked.of(language)))}</h3>",
        f"<p><b>{page.SAID}</b> {html.escape(question.claim.of(language))}</p>",
        f'<p class="badge {judged}">{_MARKS[judged]} {html.escape(verdict)}</p>',
    ]
    if answer.stands_in:
        on = words.measured_on(answer.measured_on, _short(answer.text))
        lines.append(f'<p class="small">{html.escape(on)}</p>')
    if answer.problem:
        lines.append(f"<p>{html.escape(answer.problem.of(language))}</p>")
    if question.measure is None and question.stated is not None:
        lines.append(_told(words.WHY_NOT, question.stated.why.of(language)))
    if answer.held:
        held = zip(question.parts, answer.held, strict=True)
        items = "".join(_part(part, holds, answer, language) for part, holds in held)
        lines.append(f'<h4>{words.PARTS}</h4><ul class="parts">{items}</ul>')
    more = [_numbers(answer, language)]
    if question.formula and answer.verdict is not None:
        formula = markdown.formula(filled(question.formula, answer.numbers), display=True)
        more.append(f'<h4>{page.FORMULA}</h4><div class="formula">{formula}</div>')
    more.append(_told(page.BECAUSE, question.because.of(language)))
    more.append(_told(page.REFUTED, question.refuted.of(language)))
    more.append(_told(page.SETTING, question.setting.of(language)))
    if question.papers:
        items = "".join(
            f'<li lang="en">{html.escape(paper.cited)}: {html.escape(paper.title)}. '
            f'<a href="{html.escape(paper.url)}" rel="noreferrer">{html.escape(paper.url)}</a></li>'
            for paper in question.papers
        )
        more.append(f"<h4>{page.PAPERS}</h4><ul>{items}</ul>")
    if question.see is not None:
        more.append(f"<h4>{words.SEE}</h4><p>{_seen(question.see, address)}</p>")
    return f'{"".join(lines)}<div class="more">{"".join(more)}</div>'


def verdict_of(answer: Answer, language: Language) -> str:
    """Say the verdict: of every model where no loaded one takes part, else here."""
    page = PAGE[language]
    if answer.verdict is None:
        unmeasured: str = page.UNMEASURED
        return unmeasured
    said: str = (page.ALWAYS if answer.question.of is None else page.HERE)[answer.verdict]
    return said


def _seen(see: PageLink, address: str) -> str:
    """Write where an answer is seen whole: a link where the address is known."""
    state = f"?{urlencode(see.state)}" if see.state else ""
    path = html.escape(f"{address}/{see.page}{state}")
    if address:
        return f'<a href="{path}" rel="noreferrer">{path}</a>'
    first = "" if see.page else "Attention: "  # its address is empty
    return f"{first}<code>{path}</code>"


def _part(part: ClaimPart, held: bool, answer: Answer, language: Language) -> str:
    page, question = PAGE[language], answer.question
    colon, opens, closes = (": ", " (", ")") if language == "en" else ("：", "（", "）")
    checks = []
    for check in part.checks:
        quantity = question.numbers.get(check.number)
        name = check.number if quantity is None else quantity.name.of(language)
        got = shown(answer.numbers[check.number], quantity, language)
        needs = needed(check, question.numbers, answer.numbers, language)
        bound = page.bound(needs, holds=check.holds(answer.numbers))
        why = html.escape(reason(check).of(language))
        checks.append(f'<span title="{why}">{html.escape(f"{name}{colon}{got}{opens}{bound}{closes}")}</span>')
    mark, verdict = ("true", page.ROLES[part.role]) if held else ("false", page.NOT_HELD)
    statement = html.escape(page.quoted(part.statement.of(language)))
    return (
        f'<li><span class="badge {mark}">{_MARKS[mark]} {verdict}</span>{colon}{statement}'
        f'<span class="small">{"<br>".join(checks)}</span></li>'
    )


def _numbers(answer: Answer, language: Language) -> str:
    question, page = answer.question, PAGE[language]
    return "".join(
        _table(answer, names, page.NUMBERS if of is None else page.numbers_of(of.of(language)), language)
        for of, names in by_measured(question.numbers, answer.numbers).items()
    )


def _table(answer: Answer, names: Sequence[str], heading: str, language: Language) -> str:
    question, page = answer.question, PAGE[language]
    paper = any(name in question.published for name in names)
    rows = []
    for name in names:
        quantity = question.numbers[name]
        cells = f'<th scope="row">{html.escape(quantity.name.of(language))}</th>'
        cells += f"<td>{html.escape(shown(answer.numbers[name], quantity, language))}</td>"
        if paper:
            published = question.published.get(name)
            cells += f"<td>{html.escape(_told_by(published, language))}</td>"
        rows.append(f"<tr>{cells}</tr>")
    heads = "".join(f'<th scope="col">{head}</th>' for head in page.HEADS[: 3 if paper else 2])
    return f"<h4>{heading}</h4><table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _told_by(published: PublishedNumber | None, language: Language) -> str:
    if published is None:
        return ""
    of = published.of.of(language)
    told: str = WORDS[language].published(published.value, of, same=published.same, from_memory=published.from_memory)
    return told


def _told(heading: str, text: str) -> str:
    return f"<h4>{heading}</h4><p>{html.escape(text)}</p>" if text else ""


def _mark(answer: Answer) -> str:
    verdict = answer.verdict or "failed"
    return f'<span class="{verdict}" aria-hidden="true">{_MARKS[verdict]}</span>'


def _in(language: Language, inner: str) -> str:
    return f'<div class="l" lang="{TAGS[language]}">{inner}</div>'


def _both(of: Callable[[Language], str]) -> str:
    """Give a short text in both languages, each in its own element; once where it is the same."""
    if len({of(language) for language in LANGUAGES}) == 1:
        return html.escape(of("en"))
    return " ".join(
        f'<span class="l" lang="{TAGS[language]}">{html.escape(of(language))}</span>' for language in LANGUAGES
    )


def _short(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}…"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the sheet to a file; returns the exit code: 0, or 2 with one sentence on stderr."""
    return command.run(_run, arguments)


def _run(arguments: Sequence[str]) -> int:
    from inspector.export import anki  # it writes answers by the words of this module
    from inspector.questions import __main__ as asking

    parser = command.Parser(
        prog="python -m inspector.export.questions_sheet",
        description="Ask the questions of a model and a text, and write the answers: a sheet, cards or a table.",
    )
    parser.add_argument("file", metavar="FILE", help="the file to write: .html to print, .apkg for Anki, or .csv")
    asking.add_subject(parser)
    parser.set_defaults(language=None)
    options = parser.parse_args(arguments)
    file, ending = Path(options.file), Path(options.file).suffix.lower()
    if ending not in (".html", ".htm", ".apkg", ".csv"):
        raise ValueError(f"{file.name!a} is no name for a sheet, cards or a table: end it in .html, .apkg or .csv")
    chosen = asking.chosen_from(options.only, None)
    subject = asking.subject_of(options)
    answers = asking.ask(chosen, subject)
    match ending:
        case ".apkg":
            file.write_bytes(anki.package(answers, options.language or "en"))
        case ".csv":
            file.write_bytes(anki.csv(answers, options.language or "en"))
        case _:
            page = sheet(answers, model=subject.loaded.card.id, text=subject.text, language=options.language)
            file.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
