"""A learner's YAML: its documents as values, and the line at which a path of a document stands.

Owns the parsing (anchors, several documents, lists of objects, JSON) with a bound on its
nesting; knows nothing of what is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from cluster.i18n import _
from grader.checks.matching import Element
from grader.checks.objects import LIST_KEYS
from grader.checks.words import shorten
from grader.checks.work import FileTrouble, LearnerFile

_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Document:
    """One object of the file."""

    value: Any
    node: yaml.Node

    def line(self, keys: tuple[str | int, ...]) -> int:
        """The line (from 1) of the value at `keys`, or of the nearest part of the path that exists."""
        node, line = self.node, self.node.start_mark.line
        for key in keys:
            found = _child(node, key)
            if found is None:
                break
            line, node = found
        return line + 1


class _Loader(yaml.SafeLoader):
    """YAML as kubectl reads it: dates stay text, nesting has a bound."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.depth += 1
        if self.depth > _DEEPEST:
            mark = parent.start_mark if parent else None
            raise yaml.composer.ComposerError(None, None, _("nested too deeply"), mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def documents(file: LearnerFile) -> list[Document]:
    """Every object of the file; a List's items each on their own. FileTrouble where it is not YAML."""
    found: list[Document] = []
    try:
        loader = _Loader(file.text)  # refuses characters that YAML does not allow
        while loader.check_node():
            node = loader.get_node()
            if node is not None:
                found += _objects(loader.construct_document(node), node)
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(file, error.problem or "", error.problem_mark) from error
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        # ValueError, TypeError: PyYAML's constructors on odd scalars and unhashable keys.
        raise _not_yaml(file, str(error), None) from error
    return found


def _objects(value: Any, node: yaml.Node) -> Iterator[Document]:  # YAML: any value may be there
    items = value.get("items") if isinstance(value, dict) else None
    if isinstance(value, dict) and str(value.get("kind", "")).endswith("List") and isinstance(items, list):
        child = _child(node, "items")
        nodes = child[1].value if child and isinstance(child[1], yaml.SequenceNode) else []
        for item, item_node in zip(items, nodes, strict=False):
            yield Document(item, item_node)
    elif value is not None:
        yield Document(value, node)


def _child(node: yaml.Node, key: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == key:
                return name.start_mark.line, value
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            if index == key or (isinstance(key, Element) and _called(item, key)):
                return item.start_mark.line, item
    return None


def _called(node: yaml.Node, name: str) -> bool:
    found = (_child(node, key) for key in LIST_KEYS)
    return any(child is not None and child[1].value == name for child in found)


def _not_yaml(file: LearnerFile, problem: str, mark: yaml.Mark | None) -> FileTrouble:
    why = shorten(problem, 80)
    where = file.name if mark is None else file.place(mark.line + 1)
    if "\t" in problem or "'\\t'" in problem:
        why = _("a tab where spaces belong")
    return FileTrouble(_("{name} is not valid YAML: {why}").format(name=file.name, why=why), where)
