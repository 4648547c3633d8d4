"""The markdown of Killercoda and Katacoda: text that runs, is copied, opens files and unfolds.

Owns those platforms' additions to markdown and what becomes of each; what our own dialect wants is `fit`'s.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field

from cluster.i18n import _
from grader.importing import machine, quiz
from grader.importing.draft import LabDraft
from grader.importing.fit import Where, fit
from grader.importing.ledger import Ledger, Place
from grader.importing.pictures import Pictures

_OPEN = re.compile(r"(?P<indent>\s*(?:>\s?)*(?:[-*+]\s+|\d+[.)]\s+)?)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)\Z")
_ANNOTATION = r"\{\{\s*(?P<words>[^{}]*?)\s*\}\}"
_CLOSE = re.compile(r"\s*(?:>\s?)*(?P<fence>`{3,}|~{3,})\s*(?:" + _ANNOTATION + r")?(?P<rest>.*)\Z")
_SPAN = re.compile(r"(?P<ticks>`+)(?P<code>(?:(?!(?P=ticks)).)+?)(?P=ticks)(?!`)\s?" + _ANNOTATION)
_TRAFFIC = re.compile(r"\{\{\s*TRAFFIC_(?:HOST\d+_(?P<port>\d+)|SELECTOR)\s*\}\}(?P<path>/[^\s()\[\]`<>]*)?")
_SUBDOMAIN = re.compile(
    r"https?://\[\[(?:HOST\d*|CLIENT)_SUBDOMAIN\]\]-(?P<port>\d+)-\[\[KATACODA_(?:HOST|DOMAIN)\]\]"
    r"[\w.]*(?P<path>/[^\s()\[\]`<>]*)?"
)
_PLACEHOLDER = re.compile(r"\[\[(?P<name>[A-Z][A-Z0-9_]+)\]\]")
_TAG = re.compile(r"(?P<tag></?details\b[^>]*>|<summary\b[^>]*>|</summary>)", re.IGNORECASE)
_PRE = re.compile(r"<pre\b(?P<attributes>[^>]*)>(?P<rest>.*)\Z", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_KEY = re.compile(r"<kbd>\s*(?P<key>[^<]*?)\s*</kbd>", re.IGNORECASE)
_SOLUTION = re.compile(r"solution|answer|resposta|lösung|soluci|解", re.IGNORECASE)
_HINT = re.compile(r"hint|tip|help|hinweis|tipp|clue|need", re.IGNORECASE)
_EXECUTE, _COPY = {"exec", "execute"}, {"copy"}
_SHELLS = {"", "bash", "sh", "shell", "console", "plain", "terminal", "text", "shellscript"}
_COMMANDS = ("bash", "sh", "shell", "text")
_PLAIN_NAME = re.compile(r"[\w@+-][\w.@+-]*(?:/[\w@+-][\w.@+-]*)*\Z")


@dataclass(slots=True)
class Page:
    """What a page of markdown came to. `commands`: those that the text lets its reader run, in order."""

    body: str = ""
    hints: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    """What unfolds and gives the answer."""
    solution: str = ""
    commands: list[str] = field(default_factory=list)
    questions: list[quiz.Question] = field(default_factory=list)


def read_page(file: str, text: str, lab: LabDraft, pictures: Pictures, *, runs: bool) -> Page:
    """The page in `file`. `runs`: it becomes part of a step, where blocks may be run by a key."""
    return _Reader(file, text, lab, pictures, runs=runs).read()


class _Sink:
    """Lines on their way out, each with the line of the source it came from."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.lines: list[int] = []

    def add(self, row: str, line: int) -> None:
        """One row (or several) of output."""
        for part in row.split("\n"):
            self.rows.append(part)
            self.lines.append(line)


@dataclass(slots=True)
class _Details:
    sink: _Sink
    line: int
    summary: str = ""
    commands: list[str] = field(default_factory=list)


class _Reader:
    """One pass over the lines of a page."""

    def __init__(self, file: str, text: str, lab: LabDraft, pictures: Pictures, *, runs: bool) -> None:
        self.file, self.lab, self.pictures, self.runs = file, lab, pictures, runs
        self.rows = text.split("\n")
        self.page = Page()
        self.sink = _Sink()
        self.details: _Details | None = None
        self.depth = 0
        self.in_summary = False
        self.pending: list[tuple[str, int]] = []

    @property
    def ledger(self) -> Ledger:
        return self.lab.ledger

    def place(self, line: int) -> Place:
        return Place(self.file, line)

    def read(self) -> Page:
        at = 0
        while at < len(self.rows):
            row = self.rows[at]
            if (match := _OPEN.match(row)) and not _SPAN.search(row):
                at = self._fence(at, match)
            elif (pre := _PRE.search(row)) and "file" in pre["attributes"]:
                at = self._pre(at, pre)
            elif quiz.begins(row) and not self.details:
                at = self._quiz(at)
            else:
                self._row(row, at + 1)
                at += 1
        self._flush()
        if self.details:
            self.ledger.approximated(
                self.place(self.details.line), "<details>", "lab.md", _("it was never closed: closed at the end")
            )
            self._end_details()
        where = Where(Place(self.file, 1))
        self.page.body = fit("\n".join(self.sink.rows), where, self.ledger, runs=self.runs, lines=self.sink.lines)
        return self.page

    # -- code -------------------------------------------------------------------------------------------

    def _fence(self, at: int, opened: re.Match[str]) -> int:
        self._flush()
        start, fence, line = at, opened["fence"], at + 1
        content: list[str] = []
        words: list[str] | None = None
        rest = ""
        at += 1
        while at < len(self.rows):
            closed = _CLOSE.match(self.rows[at])
            if closed and _ends(closed, fence):
                words = None if closed["words"] is None else closed["words"].split()
                rest = closed["rest"].strip()
                break
            content.append(self.rows[at])
            at += 1
        else:
            self.ledger.approximated(
                self.place(line), fence, "lab.md", _("the code block was never closed: closed at the end")
            )
        indent = opened["indent"]
        blank = re.sub(r"[^>\s]", " ", indent)
        language = (opened["info"].split() or [""])[0]
        if len(opened["info"].split()) > 1:
            reason = _("only the language of a code block is kept")
            self.ledger.approximated(self.place(line), f"```{opened['info'].strip()}", "lab.md", reason)
        inner = [row.removeprefix(blank) if blank.strip() == "" else row for row in content]
        text = "\n".join(inner)
        head = self._head(words, language, text, line)
        if head == "bash run" and blank:
            inner = [row.lstrip() if len(inner) == 1 else row for row in inner]
        if words is not None or language.lower() in _SHELLS:
            inner = [self._home(row, start + 2 + number) for number, row in enumerate(inner)]
        marker = "`" * max(3, *(len(run) + 1 for run in re.findall("`{3,}", text)), 3) if "```" in text else "```"
        self.sink.add(f"{indent}{marker}{head}", line)
        for number, row in enumerate(inner):
            self.sink.add(f"{blank}{row}" if row else row, start + 2 + number)
        self.sink.add(f"{blank}{marker}", at + 1)
        if rest:
            self._row(rest, at + 1)
        return at + 1

    def _head(self, words: list[str] | None, language: str, text: str, line: int) -> str:
        """The info of the block; what it does beyond being shown is told."""
        clean = re.sub(r"[^A-Za-z0-9_+.-]", "", language) or "text"
        if words is None or not words:
            return clean if language.lower() not in {"plain", ""} else "text"
        if set(words) & _EXECUTE:
            return "bash run" if self._runs(text, words, line, first=line + 1) else "bash"
        if set(words) & _COPY:
            self.ledger.converted(self.place(line), "{{" + " ".join(words) + "}}", "lab.md")
        else:
            self.ledger.unmapped(self.place(line), "{{" + " ".join(words) + "}}", _("no such action is known"))
        return clean if language.lower() not in {"plain", ""} else "text"

    def _runs(self, code: str, words: list[str], line: int, *, first: int) -> bool:
        """Whether code that can be run there, its text beginning on line `first`, becomes a block to be run here."""
        what = "{{" + " ".join(words) + "}}"
        place = self.place(line)
        keys = {"ctrl-seq", "no-newline"} & set(words)
        if keys:
            self.ledger.unmapped(place, what, _("single keys can't be sent to a shell: the learner types them"))
            return False
        (self.details.commands if self.details else self.page.commands).append(machine.at_home(code))
        reasons = []
        if "interrupt" in words:
            reasons.append(_("what runs is not interrupted first: the learner presses Ctrl-C"))
        if others := [word for word in words if re.fullmatch(r"T\d+|HOST\d+", word) and word not in ("T1", "HOST1")]:
            reasons.append(_("it runs in the one shell, not in {where}").format(where=others[0]))
        for number, reason in machine.lacking(code, may_change=True):
            row = code.split("\n")[number - 1].strip()[:80]
            self.ledger.approximated(self.place(first + number - 1), row, "lab.md", reason)
        if self.details or not self.runs:
            reasons.append(_("only a step's own text has blocks to run by a key"))
        if reasons:
            self.ledger.approximated(place, what, "lab.md", "; ".join(reasons))
        else:
            self.ledger.converted(place, what, "lab.md")
        return self.runs and not self.details

    def _pre(self, at: int, match: re.Match[str]) -> int:
        """`<pre class="file" data-filename=… data-target=…>`: text for the editor or the clipboard."""
        self._flush()
        line = at + 1
        attributes = {name.lower(): first or second for name, first, second in _ATTRIBUTE.findall(match["attributes"])}
        content, rest = [], match["rest"]
        while "</pre>" not in rest.lower() and at + 1 < len(self.rows):
            content.append(rest)
            at += 1
            rest = self.rows[at]
        tail = rest[: rest.lower().find("</pre>")] if "</pre>" in rest.lower() else rest
        content.append(tail)
        before = self.rows[line - 1][: match.start()].strip()
        if before:
            self._row(before, line)
        text = _unescaped("\n".join(content).strip("\n"))
        name, target = attributes.get("data-filename", ""), attributes.get("data-target", "")
        what = f'<pre class="file" data-filename="{name}" data-target="{target}">'
        self._editor_text(text, name, target, attributes, what, line)
        return at + 1

    def _editor_text(self, text: str, name: str, target: str, attributes: dict[str, str], what: str, line: int) -> None:
        place = self.place(line)
        tick = "`" * max(3, *(len(run) + 1 for run in re.findall("`{3,}", text)), 3)
        aim = machine.at_home(name).removeprefix(f"{machine.HOME}/").removeprefix("./")
        if target in ("replace", "insert", "append") and _PLAIN_NAME.match(aim) and not attributes.get("data-marker"):
            end = "EOF"
            while end in text.split("\n"):
                end += "_"
            arrow = ">" if target == "replace" else ">>"
            folder = posixpath.dirname(aim)
            code = (f"mkdir -p {folder}\n" if folder else "") + f"cat {arrow} {aim} <<'{end}'\n{text}\n{end}"
            (self.details.commands if self.details else self.page.commands).append(code)
            head = "bash run" if self.runs and not self.details else "bash"
            self.sink.add(f"{tick}{head}\n{code}\n{tick}", line)
            self.ledger.approximated(place, what, "lab.md", _("a command writes the file, where an editor did"))
            return
        if name:
            self.sink.add(f"`{name}`:\n", line)
        self.sink.add(f"{tick}text\n{text}\n{tick}", line)
        if target == "clipboard" or not target:
            self.ledger.converted(place, what, "lab.md")
        elif attributes.get("data-marker"):
            reason = _("text can't be put at a marker of a file: the learner does that in an editor")
            self.ledger.approximated(place, what, "lab.md", reason)
        else:
            reason = _("the name is no plain one: the learner writes the file")
            self.ledger.approximated(place, what, "lab.md", reason)

    def _quiz(self, at: int) -> int:
        self._flush()
        question, after = quiz.read(self.rows, at, len(self.page.questions) + 1)
        place = self.place(at + 1)
        if question is None:
            self.ledger.unmapped(place, self.rows[at].strip()[:60], _("a question without a form of answer"))
            return at + 1
        self.sink.add(question.shown(), at + 1)
        if question.answer is None:
            self.ledger.unmapped(place, question.text[:60], _("no answer is marked as right: nothing checks it"))
        else:
            self.page.questions.append(question)
            reason = _("the learner writes the answer into {file}").format(file=quiz.FILE)
            self.ledger.approximated(place, question.text[:60], "lab.md", reason)
        return after

    # -- text -------------------------------------------------------------------------------------------

    def _row(self, row: str, line: int) -> None:
        pieces = _TAG.split(row)
        if len(pieces) == 1 and not self.in_summary:
            self._plain(row, line)
            return
        for piece in pieces:
            tag = piece.lower()
            if tag.startswith("<details") and _TAG.fullmatch(piece):
                self._begin_details(line)
            elif tag.startswith("</details"):
                self.depth -= 1
                if self.depth <= 0 and self.details:
                    self._flush()
                    self._end_details()
            elif tag.startswith("<summary") and _TAG.fullmatch(piece):
                self.in_summary = True
            elif tag == "</summary>":
                self.in_summary = False
            elif self.in_summary and self.details:
                self.details.summary = f"{self.details.summary} {re.sub('<[^>]*>', '', piece)}".strip()
            elif piece.strip():
                self._plain(piece, line)

    def _begin_details(self, line: int) -> None:
        self._flush()
        self.depth += 1
        if self.depth == 1:
            self.details = _Details(_Sink(), line)
            self.sink, self.outer = self.details.sink, self.sink

    def _end_details(self) -> None:
        details = self.details
        assert details is not None
        self.sink, self.details, self.depth = self.outer, None, 0
        place = self.place(details.line)
        where = Where(place)
        body = fit("\n".join(details.sink.rows), where, self.ledger, runs=False, lines=details.sink.lines)
        title = details.summary or "Details"
        what = f"<details>: {title}"[:80]
        if not body:
            self.ledger.unmapped(place, what, _("nothing stands in it"))
        elif _SOLUTION.search(title) and self.runs:
            self.page.answers.append(f"{title}:\n\n{body}")
            if details.commands or _code(details.sink.rows):
                self.page.solution += "\n".join(details.commands or _code(details.sink.rows)) + "\n"
                self.ledger.converted(place, what, "lab.md, solution/")
            else:
                self.ledger.converted(place, what, "lab.md")
        elif self.runs and (_HINT.search(title) or not details.summary):
            self.page.hints.append(body)
            self.ledger.converted(place, what, "lab.md")
        else:
            self.sink.add(f"\n**{title}**\n\n{body}\n", details.line)
            self.ledger.approximated(place, what, "lab.md", _("it does not unfold: its text stands open"))

    def _plain(self, row: str, line: int) -> None:
        place = self.place(line)
        if not row.strip():
            self._flush()
            self.sink.add("", line)
            return
        row = self._web(row, place)
        alone = _SPAN.fullmatch(row.strip().lstrip("-*+ ").rstrip(" \\"))
        if alone and set(alone["words"].split()) & _EXECUTE:
            self._command_alone(alone, line)
            return
        row = _SPAN.sub(lambda match: self._span(match, line), row)
        if _BREAK.search(row):
            row = _BREAK.sub(" ", row).rstrip()
            self.ledger.converted(place, "<br>", "lab.md")
        row = _KEY.sub(lambda match: f"`{match['key']}`", row)
        row = self.pictures.replaced(row, place, self.ledger)
        row = self._home(row, line)
        if row.strip().startswith("#"):
            self._flush()
        self.sink.add(row, line)

    def _command_alone(self, match: re.Match[str], line: int) -> None:
        words, code = match["words"].split(), match["code"].strip()
        self._flush()
        if not self._runs(code, words, line, first=line):
            head = "bash" if self.details or not self.runs else "text"
        else:
            head = "bash run"
        self.sink.add(f"\n```{head}\n{self._home(code, line)}\n```\n", line)

    def _span(self, match: re.Match[str], line: int) -> str:
        """A piece of code in a sentence."""
        words, code, place = match["words"].split(), match["code"], self.place(line)
        shown = f"{match['ticks']}{code}{match['ticks']}"
        what = f"`{code[:40]}`{{{{{' '.join(words)}}}}}"
        if set(words) & _EXECUTE:
            if self._runs(code.strip(), words, line, first=line):
                self.pending.append((code.strip(), line))
        elif "open" in words:
            reason = _("no editor opens: the learner opens the file")
            self.ledger.approximated(place, what, "lab.md", reason)
        elif not words or set(words) & _COPY:
            self.ledger.converted(place, what, "lab.md")
        else:
            self.ledger.unmapped(place, what, _("no such action is known"))
        # What follows must not stick to it.
        return shown

    def _flush(self) -> None:
        """Commands of a paragraph that is over, as blocks below it."""
        for code, line in self.pending:
            self.sink.add(f"\n```bash run\n{self._home(code, line)}\n```\n", line)
        self.pending.clear()

    def _web(self, row: str, place: Place) -> str:
        """Addresses of ports of the machine, and names that the platform fills in."""
        reason = _("nothing of the lab is on the web: the port is named")

        def port(match: re.Match[str]) -> str:
            found, path = match["port"], (match["path"] or "").rstrip(".,;")
            self.ledger.approximated(place, match[0], "lab.md", reason)
            said = f"port {found} of the machine" if found else "a port of the machine"
            return f"{said}, {path}" if path.strip("/") else said

        def link(match: re.Match[str]) -> str:
            aim = _SUBDOMAIN.sub(port, _TRAFFIC.sub(port, match["aim"]))
            return f"{match['text']} ({aim})"

        row = re.sub(r"\[(?P<text>[^\]\[]*)\]\((?P<aim>[^()]*(?:TRAFFIC_|_SUBDOMAIN\]\])[^()]*)\)", link, row)
        row = _SUBDOMAIN.sub(port, _TRAFFIC.sub(port, row))
        for match in _PLACEHOLDER.finditer(row):
            self.ledger.unmapped(place, match[0], _("nobody fills it in: the text shows it as it is"))
        return row

    def _home(self, row: str, line: int) -> str:
        changed = machine.at_home(row)
        if changed != row:
            reason = _("the machine's home is the work folder here: {home}").format(home=machine.HOME)
            self.ledger.approximated(self.place(line), row.strip()[:60], "lab.md", reason)
        for path in machine.outside(row):
            reason = _("outside the work folder: gone with the shell, and no check sees it")
            self.ledger.approximated(self.place(line), path, "lab.md", reason)
        return changed


def _ends(closed: re.Match[str], fence: str) -> bool:
    """Whether such a line ends a block that `fence` began: an annotation may follow, other text only after one."""
    same = closed["fence"][0] == fence[0] and len(closed["fence"]) >= len(fence)
    return same and (closed["words"] is not None or not closed["rest"].strip())


def _code(rows: list[str]) -> list[str]:
    """The commands of the shell blocks of what is already in our form."""
    found: list[str] = []
    block: list[str] | None = None
    for row in rows:
        fence = row.strip()
        if (
            block is None
            and fence.startswith("```")
            and fence.strip("`").split(" ")[0] in ("bash", "sh", "shell", "text")
        ):
            block = []
        elif block is not None and fence.startswith("```"):
            found.append("\n".join(block))
            block = None
        elif block is not None:
            block.append(row)
    return found


def _unescaped(text: str) -> str:
    import html

    return html.unescape(text)
