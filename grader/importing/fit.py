"""Markdown of anybody, made to fit into a lab: headings, fences, links and markers that mean something to us.

Owns the rules of our own dialect, seen from outside (`grader.lab.markdown`, `grader.lab.prose` hold them); knows no
other platform.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.importing.ledger import Ledger, Place

if TYPE_CHECKING:
    from markdown_it.token import Token

_INFO = re.compile(r"[A-Za-z0-9_+.#-]+")
_ANCHOR = re.compile(r"(?<!!)\[(?P<text>[^\]\[]*)\]\(#(?P<id>[^)\s]*)[^)]*\)")
_ATTRIBUTES = re.compile(r"\s*\{#[^}]*\}\s*$")
_COLONS = re.compile(r"[ \t]*:{3,}")
_SPAN = re.compile(r"(`+)(?:(?!\1).)+?\1(?!`)")


@dataclass(frozen=True, slots=True)
class Where:
    """What a text is: where it came from (its first line), and where it goes."""

    place: Place
    into: str = "lab.md"


def fit(body: str, where: Where, ledger: Ledger, *, runs: bool = True, lines: list[int] | None = None) -> str:
    """`body` as it may stand in a step (or, without `runs`, in the introduction or a hint).

    `lines`: the line of the source of each line of the body; by default they follow one another.
    """
    from markdown_it import MarkdownIt

    rows = body.split("\n")
    tokens = MarkdownIt("commonmark").disable("inline").parse(body)

    def at(row: int) -> Place:
        line = lines[row] if lines and row < len(lines) else where.place.line + row
        return Place(where.place.file, line)

    code: set[int] = set()
    for token in tokens:
        if token.map and token.type in ("fence", "code_block", "html_block"):
            code |= set(range(*token.map))
        if token.type == "fence" and token.map:
            # Of a block that is closed the last line is none of its content.
            length = token.content.count("\n") + (token.content[-1:] not in ("", "\n"))
            closed = length == token.map[1] - token.map[0] - 2
            _fence(rows, token, at(token.map[0]), ledger, runs=runs, closed=closed)
        elif token.type == "heading_open" and token.map and token.level == 0:
            _heading(rows, token.map, token.tag, token.markup, at(token.map[0]), ledger, where.into)
    if (end := _unclosed(rows, tokens)) is not None:
        ledger.approximated(
            at(end[0]), rows[end[0]].strip()[:60], where.into, _("it was never closed: closed at the end")
        )
        rows.append(end[1])
    for row in range(len(rows)):
        if row not in code:
            rows[row] = _text(rows[row], at(row), ledger, where.into)
    kept: list[str] = []
    for number, text in enumerate(rows):
        twice = number not in code and not text.strip() and (not kept or not kept[-1].strip())
        if text is not _GONE and not twice:
            kept.append(text)
    return "\n".join(kept).strip("\n")


_GONE = "\0"
_OPENERS = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"))
_RAW = re.compile(r"\s*<(?P<tag>script|pre|style|textarea)\b", re.IGNORECASE)


def _unclosed(rows: list[str], tokens: list[Token]) -> tuple[int, str] | None:
    """(row, what closes it) of a piece of HTML that would go on over whatever comes after the text."""
    blocks = [token for token in tokens if token.type == "html_block" and token.map]
    if not blocks or blocks[-1].map is None or any(row.strip() for row in rows[blocks[-1].map[1] :]):
        return None
    start = blocks[-1].map[0]
    text = "\n".join(rows[start:])
    for opener, closer in _OPENERS:
        if opener in rows[start] and closer not in text[text.index(opener) :]:
            return start, closer
    raw = _RAW.match(rows[start])
    if raw and not re.search(rf"</{raw['tag']}>", text, re.IGNORECASE):
        return start, f"</{raw['tag'].lower()}>"
    return None


def _fence(rows: list[str], token: Token, place: Place, ledger: Ledger, *, runs: bool, closed: bool) -> None:
    assert token.map is not None
    (start, end), markup, info = token.map, token.markup, token.info
    words = info.split()
    language = match[0] if words and (match := _INFO.match(words[0])) else "text"
    flag = " run" if runs and language == "bash" and words[1:] == ["run"] else ""
    if words and not flag and info.strip() not in (language, "bash run"):
        ledger.approximated(place, f"```{info.strip()}", "lab.md", _("only the language of a code block is kept"))
    head = rows[start][: rows[start].find(markup)]
    rows[start] = f"{head}{markup}{language}{flag}"
    if not closed:
        ledger.approximated(place, "```", "lab.md", _("the code block was never closed: closed at the end"))
        rows[end - 1] += f"\n{head}{markup}"


def _heading(rows: list[str], span: list[int], tag: str, markup: str, place: Place, ledger: Ledger, into: str) -> None:
    start, end = span
    level = min(6, int(tag[1]) + 2)
    text = " ".join(rows[start : end - (0 if markup.startswith("#") else 1)]).strip()
    if markup.startswith("#"):
        text = text.strip("#").strip()
    if _ATTRIBUTES.search(text):
        ledger.approximated(place, text, into, _("the heading's own id is gone: only steps have one here"))
        text = _ATTRIBUTES.sub("", text)
    rows[start] = f"{'#' * level} {text}" if text else ""
    for row in range(start + 1, end):
        rows[row] = _GONE


def _text(row: str, place: Place, ledger: Ledger, into: str) -> str:
    if row is _GONE:
        return row
    spans: list[str] = []

    def hide(match: re.Match[str]) -> str:
        spans.append(match[0])
        return f"\1{len(spans) - 1}\1"

    row = _SPAN.sub(hide, row)
    if _COLONS.match(row):
        ledger.approximated(place, row.strip()[:40], into, _("a line of colons is a marker here: it is quoted"))
        row = re.sub(":{3,}", lambda match: "\\:" * len(match[0]), row, count=1)
    if "{#" in row:
        row = row.replace("{#", "{\\#")
    for match in list(_ANCHOR.finditer(row)):
        ledger.approximated(
            place, match[0][:60], into, _("a link to a heading became its text: only steps can be linked to")
        )
    row = _ANCHOR.sub(lambda match: match["text"], row)
    return re.sub("\1(\\d+)\1", lambda match: spans[int(match[1])], row)
