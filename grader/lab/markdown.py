"""The markdown structure of a file, with line numbers: front matter, headings with ids, fenced blocks, asides.

Owns where these begin and end and that they are well formed, in labs and in articles; knows nothing of what a
check block or the front matter says. markdown-it-py tells what is code, so that a heading or `:::` inside a code
block is text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.lab.model import CodeBlock, Hint
from grader.lab.problems import LabProblem, Source, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from markdown_it.token import Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What one kind of file may hold beside plain markdown."""

    flags: Mapping[str, str]
    """What may follow a block's language, and the one language it may follow."""
    aside: str
    """The one word after `:::`."""


LAB = Dialect(flags={"run": "bash", "check": "yaml"}, aside="hint")

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
MAX_TEXT = 256 << 10
MAX_LINES = 20_000
MAX_LINE = 10_000
"""Characters and lines of a markdown file, and characters of each line. More is no text for people, and to take
markdown apart costs far more than to read it."""
_COLONS = re.compile(r"(?P<indent>[ \t]*):{3,}(?P<word>.*)\Z")


@dataclass(frozen=True, slots=True)
class CheckBlock:
    """A ```` ```yaml check ```` block: its YAML, the line it begins on, the columns cut before each."""

    text: str
    first_line: int
    indent: int


@dataclass(slots=True)
class Section:
    """The introduction or what stands below a `##` heading, as it is written; a malformed id is left empty."""

    id: str
    title: str
    line: int
    is_intro: bool = False
    body: str = ""
    blocks: list[CodeBlock] = field(default_factory=list)
    checks: list[CheckBlock] = field(default_factory=list)
    asides: list[Hint] = field(default_factory=list)
    """The text between `:::` lines: the hints of a step."""


@dataclass(slots=True)
class Outline:
    """A file's structure. `matter` is the YAML between the `---` lines, or None; it starts on line 2.

    `code_lines` are the lines (from 1) inside code blocks and HTML comments, where nothing is markup;
    `unnamed` are the lines of fenced blocks that name no language.
    """

    source: Source
    matter: str | None
    intro: Section
    steps: list[Section]
    code_lines: set[int]
    unnamed: list[int]


@dataclass(frozen=True, slots=True)
class _Range:
    """Lines of the file from `start` up to, not including, `end`, counted from 0."""

    start: int
    end: int


def front_matter(text: str) -> str | None:
    """The YAML of the front matter alone, for who wants nothing else; None where there is none."""
    lines = text.split("\n")
    end = _front_matter_end(lines)
    return "\n".join(lines[1:end]) + "\n" if end else None


def _front_matter_end(lines: list[str]) -> int:
    """The number, from 0, of the `---` line that closes the front matter; 0 where there is none."""
    if lines[0].rstrip() != "---":
        return 0
    return next((number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), 0)


def read_outline(source: Source, found: list[LabProblem], dialect: Dialect = LAB) -> Outline:
    """The structure of `source`, as much as can be made out; everything malformed is in `found`."""
    if wrong := list(_too_much(source)):
        found += wrong
        return Outline(source, None, Section("", "", 1, is_intro=True), [], set(), [])
    return _OutlineReader(source, found, dialect).read()


def _too_much(source: Source) -> Iterator[LabProblem]:
    if len(source.text) > MAX_TEXT:
        yield source.problem(1, 1, _("larger than {limit} KiB").format(limit=MAX_TEXT >> 10))
    lines = source.text.split("\n")
    if len(lines) > MAX_LINES:
        yield source.problem(MAX_LINES + 1, 1, _("more than {limit} lines").format(limit=MAX_LINES))
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE:
            message = _("a line of more than {limit} characters").format(limit=MAX_LINE)
            yield source.problem(number, MAX_LINE + 1, message)
            return


def _title_and_id(text: str) -> tuple[str, str] | None:
    """`Title {#id}` in its parts."""
    text = text.rstrip()
    at = text.rfind("{#")
    if at < 0 or not text.endswith("}") or "}" in text[at:-1]:
        return None
    return text[:at].rstrip(), text[at + 2 : -1]


class _OutlineReader:
    """One pass over one file; a class, because each piece needs the lines, the asides and the problems."""

    def __init__(self, source: Source, found: list[LabProblem], dialect: Dialect) -> None:
        self._source = source
        self._found = found
        self._dialect = dialect
        self._lines = source.text.split("\n")
        self._asides: list[tuple[_Range, Hint]] = []
        self._aside_lines: set[int] = set()

    def read(self) -> Outline:
        matter, body_start = self._front_matter()
        tokens = _block_tokens([""] * body_start + self._lines[body_start:])
        code = {
            line
            for token in tokens
            if token.type in ("fence", "code_block", "html_block") and token.map
            for line in range(*token.map)
        }
        self._find_asides(body_start, code)
        sections = self._sections(body_start, [token for token in tokens if token.type == "heading_open"])
        for token in tokens:
            if token.type == "fence" and token.map:
                self._fence(token, _section_at(sections, token.map[0]))
        for span, aside in self._asides:
            section = _section_at(sections, span.start)
            section.asides.append(aside)
            if section.is_intro:
                message = _("'::: {word}' before the first '##' heading")
                self._problem(span.start, message.format(word=self._dialect.aside))
        self._bodies(sections, tokens)
        (_span, intro), *steps = sections
        return Outline(
            source=self._source,
            matter=matter,
            intro=intro,
            steps=[section for _span, section in steps],
            code_lines={line + 1 for line in code},
            unnamed=[t.map[0] + 1 for t in tokens if t.type == "fence" and t.map and not t.info.split()],
        )

    # -- pieces -----------------------------------------------------------------------------------------

    def _front_matter(self) -> tuple[str | None, int]:
        """The YAML, and the line (from 0) after it."""
        end = _front_matter_end(self._lines)
        if end:
            return "\n".join(self._lines[1:end]) + "\n", end + 1
        if self._lines[0].rstrip() == "---":
            self._problem(0, _("this --- opens front matter that no other line --- closes"))
            # Where the first step begins it is over for certain: what stands there is read all the same.
            steps = (
                number for number, line in enumerate(self._lines) if line.startswith("## ") and _title_and_id(line)
            )
            return None, next(steps, len(self._lines))
        self._problem(0, _("the file must begin with front matter: a line ---, YAML, a line ---"))
        return None, 0

    def _find_asides(self, start: int, code: set[int]) -> None:
        known = self._dialect.aside
        opened: int | None = None
        for number in range(start, len(self._lines)):
            match = None if number in code else _COLONS.match(self._lines[number])
            if match is None:
                continue
            word = match["word"].strip(" \t")
            if match["indent"]:  # the text of such an aside would be code, or part of a list
                self._problem(number, _("':::' must stand at the beginning of its line"))
            if word and word != known:
                message = _("unknown block '::: {word}': only '::: {known}' is known").format(word=word, known=known)
                self._problem(number, message + did_you_mean(word, [known]))
            if word and opened is not None:
                message = _("'::: {word}' inside that of line {line}: close that one with ':::' first")
                self._problem(number, message.format(word=known, line=opened + 1))
            elif word:
                opened = number
            elif opened is None:
                self._problem(number, _("this ':::' closes nothing"))
            else:
                text = "\n".join(self._lines[opened + 1 : number]).strip("\n")
                if not text.strip():
                    self._problem(opened, _("nothing stands in this '::: {word}'").format(word=known))
                self._asides.append((_Range(opened, number + 1), Hint(text=text, line=opened + 1)))
                self._aside_lines |= set(range(opened, number + 1))
                opened = None
        if opened is not None:
            message = _("this '::: {word}' is never closed: end it with a line ':::'")
            self._problem(opened, message.format(word=known))

    def _sections(self, start: int, headings: Iterable[Token]) -> list[tuple[_Range, Section]]:
        """The introduction and the steps, each with its lines (a step's without its heading)."""
        starts = [(start, start, Section("", "", 1, is_intro=True))]
        for token in headings:
            if token.level or not token.map:
                continue  # inside a quote or a list: prose
            line, end = token.map
            if self._in_aside(line) and token.tag in ("h1", "h2"):
                self._problem(line, _("a heading inside '::: {word}'").format(word=self._dialect.aside))
            elif token.tag == "h1":
                self._problem(line, _("the title stands in the front matter: write '##', and '###' for a part"))
            elif token.tag == "h2":
                starts.append((line, end, self._heading(line, token.markup)))
        ends = [line for line, _end, _section in starts[1:]] + [len(self._lines)]
        return [(_Range(after, end), section) for (_line, after, section), end in zip(starts, ends, strict=True)]

    def _heading(self, line: int, markup: str) -> Section:
        text = self._lines[line].strip().strip("#").strip() if markup == "##" else self._lines[line].strip()
        found = _title_and_id(text)
        if found is None:
            message = _("a heading without an id: write '## {title} {{#id}}'")
            if markup != "##":
                message = _("the dashes below make this a heading without an id: put a blank line between")
            self._problem(line, message.format(title=text))
            return Section("", text, line + 1)
        title, step_id = found
        if not ID.match(step_id):
            column = self._lines[line].rindex("{#") + 3
            message = _("id '{id}': use lower-case letters, digits and single hyphens")
            self._found.append(self._source.problem(line + 1, column, message.format(id=step_id)))
            return Section("", title, line + 1)
        if not title:
            self._problem(line, _("a heading without a title"))
        return Section(step_id, title, line + 1)

    def _fence(self, token: Token, section: Section) -> None:
        assert token.map is not None
        start, end = token.map
        if not _is_closed(self._lines[start:end], token.markup):
            message = _("this code block is never closed: end it with {fence}")
            self._problem(start, message.format(fence=token.markup))
        words = token.info.split()
        language, flags = (words[0], tuple(words[1:])) if words else ("", ())
        column = self._lines[start].find(token.markup) + 1
        for flag in flags:
            self._flag(flag, language, start, column, section)
        if _is_check(token):
            section.checks.append(CheckBlock(token.content, start + 2, column - 1))
        elif not self._in_aside(start):
            section.blocks.append(CodeBlock(language=language, flags=flags, text=token.content, line=start + 1))

    def _flag(self, flag: str, language: str, line: int, column: int, section: Section) -> None:
        flags = self._dialect.flags
        if flag not in flags:
            message = _("unknown word '{flag}' after the block's language; allowed: {flags}")
            message = message.format(flag=flag, flags=", ".join(flags)) + did_you_mean(flag, flags)
        elif language != flags[flag]:
            message = _("'{flag}' goes with {wanted} blocks only, not with '{language}'")
            message = message.format(flag=flag, wanted=flags[flag], language=language)
        elif self._in_aside(line):
            message = _("a block marked '{flag}' can't stand in '::: {word}'")
            message = message.format(flag=flag, word=self._dialect.aside)
        elif section.is_intro:
            message = _("a block marked '{flag}' before the first '##' heading").format(flag=flag)
        else:
            return
        self._found.append(self._source.problem(line + 1, column, message))

    def _bodies(self, sections: list[tuple[_Range, Section]], tokens: list[Token]) -> None:
        hidden = set(self._aside_lines)
        for token in tokens:
            if token.map and _is_check(token):
                hidden |= set(range(*token.map))
        for span, section in sections:
            kept: list[str] = []
            was_cut = False
            for number in range(span.start, span.end):
                if number in hidden:
                    was_cut = True
                    continue
                line = self._lines[number]
                if was_cut and not line.strip():
                    continue  # the blank line before what was cut out is enough
                if was_cut and kept and kept[-1].strip():
                    kept.append("")
                was_cut = False
                kept.append(line)
            section.body = "\n".join(kept).strip("\n")

    # -- small things -----------------------------------------------------------------------------------

    def _in_aside(self, line: int) -> bool:
        return line in self._aside_lines

    def _problem(self, line: int, message: str) -> None:
        """A problem of a whole line (from 0): its column is that of its first character that is not blank."""
        text = self._lines[line]
        column = len(text) - len(text.lstrip()) + 1
        self._found.append(self._source.problem(line + 1, column, message))


def _block_tokens(lines: list[str]) -> list[Token]:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").disable("inline")  # only blocks matter here: half the work
    return parser.parse("\n".join(lines))


def _section_at(sections: list[tuple[_Range, Section]], line: int) -> Section:
    at = bisect_right(sections, line, key=lambda section: section[0].start)
    return sections[at - 1][1]


def _is_check(token: Token) -> bool:
    language, *flags = token.info.split() or [""]
    return token.type == "fence" and language == "yaml" and "check" in flags


def _is_closed(lines: list[str], fence: str) -> bool:
    """Whether the last line closes the block that the first one opens (`> ` before it is passed over)."""
    last = lines[-1].lstrip("> \t").rstrip()
    return len(lines) > 1 and len(last) >= len(fence) and set(last) == {fence[0]}
