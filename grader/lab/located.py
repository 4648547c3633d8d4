"""YAML whose every value knows its line and column.

Owns the strict reading of YAML into plain JSON values and the way from a path (`("cluster", "nodes", 0)`)
to a place in the file; knows no key of any lab file. Stricter than YAML: no duplicate keys, tags, merge keys
or words that are booleans to some readers and text to others (`yes`, `on`), and aliases are bounded.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import yaml

from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.lab.problems import LabProblem, Source

MAX_DEPTH = 64
MAX_ALIASED = 10_000
"""How many values all aliases of a document may stand for: a few lines can otherwise mean billions."""

MAX_DOCUMENTS = 1_000
"""How many documents one file may hold."""
_LONGEST_EXPLAINED = 1 << 16
"""Characters up to which a text that is no YAML is read a second time, for better words: it takes a hundred times as
long."""

_CORE = "tag:yaml.org,2002:"
_TEXT_TAGS = {_CORE + "str", _CORE + "timestamp", _CORE + "value"}  # a date stays the text that was written
_SURROGATE = re.compile("[\ud800-\udfff]")
_AMBIGUOUS = re.compile(r"(?i:yes|no|on|off)\Z")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?\Z")
_FAST: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTRUCTOR = yaml.constructor.SafeConstructor()

Path = tuple[str | int, ...]


@dataclass(slots=True)
class Located:
    """One YAML document: its plain value, and where each part of it stands."""

    source: Source
    value: Any
    node: yaml.Node = field(repr=False)
    first_line: int = 1
    indent: int = 0

    def place(self, path: Sequence[str | int], *, key: bool = False) -> tuple[int, int]:
        """(line, column) of the value at `path`, or of its key; where there is none, of the nearest parent.

        Parts of the path that lead nowhere (names of union members in pydantic's errors) are passed over.
        """
        node, mark = self.node, self.node.start_mark
        for part in self.existing(path):
            key_node, node = _children(node)[part]
            mark = key_node.start_mark if key else node.start_mark
        return self.at(mark)

    def style(self, path: Sequence[str | int]) -> str:
        """How the text at `path` is written: `|` or `>` (a block below its key), a quote, or nothing."""
        node = self.node
        for part in self.existing(path):
            node = _children(node)[part][1]
        return getattr(node, "style", None) or ""

    def existing(self, path: Sequence[str | int]) -> Path:
        """The parts of `path` that exist in the document, in order."""
        node, parts = self.node, []
        for part in path:
            child = _children(node).get(part)
            if child is not None:
                parts.append(part)
                node = child[1]
        return tuple(parts)

    def at(self, mark: yaml.Mark) -> tuple[int, int]:
        """(line, column) in the file of a mark in the document."""
        return mark.line + self.first_line, mark.column + self.indent + 1

    def problem(self, path: Sequence[str | int], message: str, *, key: bool = False) -> LabProblem:
        """`message` at the value (or key) at `path`."""
        return self.source.problem(*self.place(path, key=key), message)


def read_documents(
    source: Source,
    found: list[LabProblem],
    *,
    text: str | None = None,
    first_line: int = 1,
    indent: int = 0,
) -> list[Located]:
    """Every document of `text` (default: the whole source), with what is wrong in `found`.

    `first_line` and `indent`: where `text` stands in the source, when it is a block of a markdown file.
    """
    text = source.text if text is None else text
    try:
        nodes = _compose(text)
    except yaml.YAMLError as error:
        line, column, message = _syntax(error, text)
        found.append(source.problem(line + first_line, column + indent + 1, message))
        return []
    except RecursionError:
        found.append(source.problem(first_line, 1, _too_deep()))
        return []
    if len(nodes) > MAX_DOCUMENTS:
        line = nodes[MAX_DOCUMENTS].start_mark.line + first_line
        message = _("more than {limit} YAML documents").format(limit=MAX_DOCUMENTS)
        found.append(source.problem(line, indent + 1, message))
        return []
    documents = []
    for node in nodes:
        document = Located(source, None, node, first_line, indent)
        document.value = _Reader(document, found).read(node)
        documents.append(document)
    return documents


def read_document(
    source: Source, found: list[LabProblem], *, text: str | None = None, first_line: int = 1, indent: int = 0
) -> Located | None:
    """The one document of `text`; None where there is none, or where it does not parse."""
    before = len(found)
    documents = read_documents(source, found, text=text, first_line=first_line, indent=indent)
    if not documents:
        if len(found) == before:
            found.append(source.problem(first_line, indent + 1, _("is empty")))
        return None
    message = _("a second YAML document: one is allowed here")
    found.extend(extra.problem((), message) for extra in documents[1:])
    return documents[0]


def _compose(text: str) -> list[yaml.Node]:
    """The documents' nodes: by libyaml where there is one, and by PyYAML again for the words of an error."""
    try:
        # One more than may be is enough to know.
        return list(islice(yaml.compose_all(text, Loader=_FAST), MAX_DOCUMENTS + 1))
    except yaml.YAMLError:
        if _FAST is yaml.SafeLoader or len(text) > _LONGEST_EXPLAINED:
            raise
        list(yaml.compose_all(text, Loader=yaml.SafeLoader))
        raise


def _syntax(error: yaml.YAMLError, text: str) -> tuple[int, int, str]:
    """(line, column) from 0, and what is wrong."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark, problem = error.problem_mark, error.problem or str(error)
        if "maximum nesting depth" in problem:  # libyaml's own, which is far beyond ours
            return mark.line, mark.column, _too_deep()
        if "'\\t'" in problem:
            problem = _("a tab: YAML is indented with spaces")
        elif "mapping values are not allowed" in problem:
            problem = _("a ':' that can't stand here: quote text that holds ': ', or check the indent")
        return mark.line, mark.column, _("not YAML: {problem}").format(problem=problem)
    position = getattr(error, "position", 0)
    before = text[:position] if isinstance(position, int) else ""
    problem = _("not YAML: a control character that may not stand in a file")
    return before.count("\n"), len(before) - before.rfind("\n") - 1, problem


def _too_deep() -> str:
    return _("nested deeper than {limit} levels").format(limit=MAX_DEPTH)


def _children(node: yaml.Node) -> dict[str | int, tuple[yaml.Node, yaml.Node]]:
    """(key node, value node) by key or index; a list item is its own key, of two keys the first counts."""
    if isinstance(node, yaml.SequenceNode):
        return {index: (item, item) for index, item in enumerate(node.value)}
    if isinstance(node, yaml.MappingNode):
        return {key.value: (key, value) for key, value in reversed(node.value) if isinstance(key, yaml.ScalarNode)}
    return {}


class _Reader:
    """Turns the nodes of one document into plain values, gathering everything that is wrong."""

    def __init__(self, document: Located, found: list[LabProblem]) -> None:
        self._document = document
        self._found = found
        self._seen: set[int] = set()
        self._aliased = 0

    def read(self, node: yaml.Node, depth: int = 0, *, aliased: bool = False) -> Any:
        aliased = aliased or id(node) in self._seen
        self._seen.add(id(node))
        self._aliased += aliased
        if self._aliased > MAX_ALIASED:
            if self._aliased == MAX_ALIASED + 1:
                self._refuse(node, _("aliases stand for more than {limit} values").format(limit=MAX_ALIASED))
            return None
        if depth > MAX_DEPTH:  # an alias to one of its own parents ends here, too
            self._refuse(node, _too_deep())
            self._aliased = MAX_ALIASED + 2  # said once: the rest of the document is not worth reading
            return None
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if node.tag not in (_CORE + "map", _CORE + "seq"):
            self._refuse(node, _("tag {tag}: YAML tags are not allowed").format(tag=node.tag))
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, depth + 1, aliased=aliased) for item in node.value]
        assert isinstance(node, yaml.MappingNode)
        return self._mapping(node, depth, aliased)

    def _mapping(self, node: yaml.MappingNode, depth: int, aliased: bool) -> dict[str, Any]:
        result: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _CORE + "null":
                self._refuse(key, _("a key must be text"))
                continue
            if key.tag == _CORE + "merge":
                self._refuse(key, _("'<<' is not supported: write the keys out"))
                continue
            line = self._document.at(key.start_mark)[0]
            if key.value in lines:
                message = _("duplicate key '{key}' (first on line {line})")
                self._refuse(key, message.format(key=key.value, line=lines[key.value]))
                self.read(value, depth + 1, aliased=aliased)
                continue
            lines[key.value] = line
            # Keys are taken as they are written: to YAML 1.1 `on:` would be the key true.
            result[self._text(key)] = self.read(value, depth + 1, aliased=aliased)
        return result

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text: str = node.value
        kind = node.tag.removeprefix(_CORE)
        if node.tag in _TEXT_TAGS or (kind in ("int", "float") and _BASE_60.match(text)):
            return self._text(node)
        if kind == "null":
            return None
        if kind == "bool":
            if _AMBIGUOUS.match(text):
                message = _("'{text}' is a boolean to some readers: write true or false, or put it in quotes")
                self._refuse(node, message.format(text=text))
            return text.lower() in ("true", "yes", "on")
        if kind in ("int", "float"):
            return self._number(node, kind)
        self._refuse(node, _("tag {tag}: YAML tags are not allowed").format(tag=node.tag))
        return text

    def _text(self, node: yaml.ScalarNode) -> str:
        text: str = node.value
        if _SURROGATE.search(text):  # libyaml refuses them itself
            self._refuse(node, _("half of a surrogate pair is no character"))
            return ""
        return text

    def _number(self, node: yaml.ScalarNode, kind: str) -> int | float | str:
        value: int | float = math.nan
        try:
            if kind == "int":
                value = int(_CONSTRUCTOR.construct_yaml_int(node))
            else:
                value = float(_CONSTRUCTOR.construct_yaml_float(node))
        except (ValueError, OverflowError):  # `!!int x`, or more digits than Python reads
            pass
        if isinstance(value, float) and not math.isfinite(value):
            self._refuse(node, _("'{text}' is no number that can be used").format(text=node.value[:40]))
            return str(node.value)
        return value

    def _refuse(self, node: yaml.Node, message: str) -> None:
        self._found.append(self._document.source.problem(*self._document.at(node.start_mark), message))
