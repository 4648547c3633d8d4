"""Which commands a shell script runs, found by reading it.

Owns as much of the shell's grammar as that needs: quotes, comments, here-documents, substitutions, functions,
`for` and `case`. Runs nothing, expands nothing, and knows nothing of what a command does. What it can't make out
(a command that stands in a variable) it leaves out: it looks for what is certainly there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^]]*\])?\+?=")
_OPENERS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"})
"""Words after which a command begins."""
_CLOSERS = frozenset({"fi", "done", "esac", "}"})
_PREFIXES = frozenset({"exec", "command", "builtin", "nohup", "sudo", "env", "timeout", "xargs", "nice", "setsid"})
"""Commands that run the command behind them."""
_SHELLS = frozenset({"sh", "bash", "ash", "dash"})
UNKNOWN = "\0"
"""Stands in a word for what only running the script would tell."""


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command: its words without assignments and redirections. `line` counts from 1.

    `inside`: it runs in a pod (`kubectl exec POD -- …`), not where the script does.
    """

    words: tuple[str, ...]
    line: int
    inside: bool = False


def commands(script: str, first_line: int = 1) -> list[Command]:
    """The commands of a script in the order in which they stand; its own functions are not among them."""
    scanner = _Scanner(script, first_line)
    scanner.run()
    found: list[Command] = []
    for command in scanner.found:
        found += _unwrapped(command)
    return [one for one in found if one.words[0] not in scanner.functions]


def _unwrapped(command: Command) -> list[Command]:
    """A command, and those that it is told to run."""
    name, *rest = command.words
    if name in _SHELLS and "-c" in rest[:-1]:
        inner = rest[rest.index("-c") + 1]
        return [replaced for one in commands(inner, command.line) for replaced in [_moved(one, command)]]
    if name in _PREFIXES:
        words = [word for word in rest if not _ASSIGNMENT.match(word)]
        while words and (words[0].startswith("-") or re.fullmatch(r"[\d.]+[smhd]?", words[0])):
            words.pop(0)
        return _unwrapped(Command(tuple(words), command.line, command.inside)) if words else []
    if name == "kubectl" and "--" in rest:
        at = rest.index("--")
        outer = Command((name, *rest[:at]), command.line, command.inside)
        inner_words = tuple(rest[at + 1 :])
        return [outer, *(_unwrapped(Command(inner_words, command.line, inside=True)) if inner_words else [])]
    return [command]


def _moved(one: Command, outer: Command) -> Command:
    return Command(one.words, outer.line, one.inside or outer.inside)


@dataclass
class _Scanner:
    """One pass over one script."""

    text: str
    first_line: int = 1
    found: list[Command] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.at = 0
        self._words: list[str] = []
        self._word: str | None = None
        self._began = self.first_line
        self._drop_next = False
        self._here: list[tuple[str, bool]] = []
        self._here_next: bool | None = None
        """Whether the next word is the end of a here-document, and whether tabs before it are cut."""
        self._names_function = False
        self._case: list[str] = []
        """For each `case` that is open: `word`, `pattern` or `body`."""

    def run(self) -> None:
        """Read to the end."""
        while self.at < len(self.text):
            self._step(self.text[self.at])
        self._end_command()

    # -- one character --------------------------------------------------------------------------------

    def _step(self, char: str) -> None:
        after = self.text[self.at + 1 : self.at + 2]
        if char == "\\":
            if after != "\n":
                self._add(after)
            self.at += 2
        elif char == "'":
            end = self._find("'", self.at + 1)
            self._add(self.text[self.at + 1 : end])
            self.at = end + 1
        elif char == '"':
            self._double_quoted()
        elif char in "$`":
            self._add(self._substitution())
        elif char == "#" and self._word is None:
            self.at = self._find("\n", self.at)
        elif char in "<>":
            self._redirection(char, after)
        elif char == "\n":
            self._end_command()
            self.at += 1
            self._skip_here_documents()
        elif char in ";|&()":
            self._operator(char, after)
        elif char.isspace():
            self._end_word()
            self.at += 1
        else:
            self._add(char)
            self.at += 1

    def _double_quoted(self) -> None:
        self._add("")
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != '"':
            char = self.text[self.at]
            if char == "\\":
                self._add(self.text[self.at + 1 : self.at + 2])
                self.at += 2
            elif char in "$`":
                self._add(self._substitution())
            else:
                self._add(char)
                self.at += 1
        self.at += 1

    def _substitution(self) -> str:
        """Pass over `$…` or a command between backquotes; its commands are found, its value is unknown."""
        if self.text[self.at] == "`":
            end = self._find("`", self.at + 1)
            self._inner(self.at + 1, end)
            self.at = end + 1
            return UNKNOWN
        if self.text.startswith("$((", self.at):
            self.at = self._closing("(", ")", self.at + 1) + 1
        elif self.text.startswith("$(", self.at):
            end = self._closing("(", ")", self.at + 1)
            self._inner(self.at + 2, end)
            self.at = end + 1
        elif self.text.startswith("${", self.at):
            self.at = self._closing("{", "}", self.at + 1) + 1
        else:
            name = re.compile(r"\$(\w+|[#?!@*$-])?").match(self.text, self.at)
            assert name is not None
            self.at = name.end()
        return UNKNOWN

    def _inner(self, start: int, end: int) -> None:
        inner = _Scanner(self.text[start:end], self._line(start))
        inner.run()
        self.found += inner.found

    def _redirection(self, char: str, after: str) -> None:
        if after == "(":  # <(command)
            end = self._closing("(", ")", self.at + 1)
            self._inner(self.at + 2, end)
            self._add(UNKNOWN)
            self.at = end + 1
            return
        if self._word is not None and self._word.isdigit():
            self._word = None  # the descriptor before it
        self._end_word()
        if self.text.startswith("<<<", self.at):
            self._drop_next = True
            self.at += 3
        elif self.text.startswith("<<", self.at):
            self._here_next = self.text.startswith("<<-", self.at)
            self.at += 3 if self._here_next else 2
        else:
            mark = re.compile(r"[<>]{1,2}[&|]?").match(self.text, self.at)
            assert mark is not None
            self._drop_next = True
            self.at = mark.end()
        del char

    def _operator(self, char: str, after: str) -> None:
        if char == "&" and after == ">":  # &> file
            self.at += 1
            return
        if char == "(" and self._word is None and not self._words:
            self.at += 1  # a subshell
            return
        if char == "(" and self._is_function():
            self.at = self._find(")", self.at) + 1
            self._words, self._word = [], None
            return
        if char == ")" and self._case and self._case[-1] == "pattern":
            self._words, self._word = [], None
            self._case[-1] = "body"
            self.at += 1
            return
        self._end_command()
        if char == ";" and after == ";" and self._case:
            self._case[-1] = "pattern"
            self.at += 1
        self.at += 1

    def _is_function(self) -> bool:
        words = [*self._words, *([self._word] if self._word is not None else [])]
        if len(words) == 1 and re.match(r"\(\s*\)", self.text[self.at :]):
            self.functions.add(words[0])
            return True
        return False

    # -- words and commands ---------------------------------------------------------------------------

    def _add(self, text: str) -> None:
        if self._word is None:
            self._word = ""
            if not self._words:
                self._began = self._line(self.at)
        self._word += text

    def _end_word(self) -> None:
        word, self._word = self._word, None
        if word is None:
            return
        if self._here_next is not None:
            self._here.append((word, self._here_next))
            self._here_next = None
        elif self._drop_next:
            self._drop_next = False
        elif self._case and self._case[-1] == "pattern":
            if word == "esac":
                self._case.pop()
        elif not self._words and (word in _OPENERS or word in _CLOSERS):
            if word == "esac" and self._case:
                self._case.pop()
        elif self._names_function:
            self.functions.add(word)
            self._names_function = False
        elif not self._words and word == "function":
            self._names_function = True
        elif not self._words and word == "case":
            self._case.append("word")
        elif self._case and self._case[-1] == "word":
            if word == "in":
                self._case[-1] = "pattern"
        elif self._words or not _ASSIGNMENT.match(word):
            self._words.append(word)

    def _end_command(self) -> None:
        self._end_word()
        words, self._words = self._words, []
        self._drop_next = False
        if words and words[0] not in ("for", "select") and UNKNOWN not in words[0]:
            self.found.append(Command(tuple(words), self._began))

    def _skip_here_documents(self) -> None:
        for end, cut in self._here:
            while self.at < len(self.text):
                stop = self._find("\n", self.at)
                line = self.text[self.at : stop]
                self.at = stop + 1
                if (line.lstrip("\t") if cut else line) == end:
                    break
        self._here.clear()

    # -- small things ---------------------------------------------------------------------------------

    def _line(self, at: int) -> int:
        return self.first_line + self.text.count("\n", 0, at)

    def _find(self, what: str, start: int) -> int:
        found = self.text.find(what, start)
        return len(self.text) if found < 0 else found

    def _closing(self, opening: str, closing: str, start: int) -> int:
        """Where the bracket at `start` is closed; quotes inside are passed over."""
        depth, at = 0, start
        while at < len(self.text):
            char = self.text[at]
            if char == "\\":
                at += 1
            elif char == "'":
                at = self._find("'", at + 1)
            elif char == opening:
                depth += 1
            elif char == closing:
                depth -= 1
                if depth == 0:
                    return at
            at += 1
        return len(self.text)
