"""What a template may do at all: a small part of Jinja, with a bound on everything that grows or goes on.

Owns the environment: which statements, filters, operators and methods there are, how long a source and every value
may be, and when a rendering has taken too long. Templates come from labs, and labs come from anybody.

Nothing here relies on a watchdog: each single operation is small by its bounds, and between two of them the clock
is looked at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError, nodes
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from cluster.i18n import _

LONGEST_SOURCE = 4_000
"""Characters of a template."""
MOST = 100_000
"""Characters of a text, entries of a list, that a template may make."""
MOST_TURNS = 10_000
"""Turns of all loops of one rendering together."""
MOST_SECONDS = 2.0
"""That one rendering may take."""
DEEPEST = 50
"""Expressions one in another."""
_LARGEST_NUMBER = 1 << 256

FILTERS = frozenset(
    (
        *("abs", "capitalize", "count", "d", "default", "dictsort", "first", "float", "int", "items", "join", "last"),
        *("length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "replace", "reverse", "round"),
        *("select", "selectattr", "sort", "string", "sum", "title", "tojson", "trim", "truncate", "unique", "upper"),
        "wordcount",
    )
)
"""Jinja's own filters that there are; the others make long texts of short ones, reach attributes, or are for HTML."""
_METHODS = frozenset(
    (
        *("get", "items", "keys", "values"),
        *("capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha", "isdigit", "lower"),
        *("lstrip", "partition", "removeprefix", "removesuffix", "rfind", "rpartition", "rsplit", "rstrip", "split"),
        *("splitlines", "startswith", "strip", "swapcase", "title", "upper"),
    )
)
_ALLOWED = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If),
    *(nodes.Name, nodes.Const, nodes.Tuple, nodes.List, nodes.Dict, nodes.Pair, nodes.Keyword, nodes.Slice),
    *(nodes.CondExpr, nodes.Filter, nodes.Test, nodes.Call, nodes.Getitem, nodes.Getattr, nodes.Concat),
    *(nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Neg, nodes.Pos),
    *(nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod),
)
_WRITTEN = {
    "Assign": "{% set %}",
    "AssignBlock": "{% set %}",
    "Macro": "{% macro %}",
    "CallBlock": "{% call %}",
    "FilterBlock": "{% filter %}",
    "FromImport": "{% from %}",
    "Pow": "**",
}
_TURNS, _CONCAT = "batchlab_turns", "batchlab_concat"


class TooMuchError(TemplateError):
    """A rendering that would go on, or grow, without end."""


@dataclass
class _Budget:
    turns: int = MOST_TURNS
    until: float = field(default_factory=lambda: time.monotonic() + MOST_SECONDS)


_budget: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def one_rendering() -> Iterator[None]:
    """The time in which one template is rendered: its budget begins here."""
    token = _budget.set(_Budget())
    try:
        yield
    finally:
        _budget.reset(token)


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, where what remains has bounds. Take `parse_bounded`, then `compile`; and `one_rendering`."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def __init__(self, **options: Any) -> None:
        # Unoptimized: constant expressions would be worked out while a template is compiled, outside every bound.
        super().__init__(optimized=False, **options)
        self.globals.clear()
        self.filters = {name: bounded(self.filters[name]) for name in FILTERS}
        self.filters["replace"] = bounded(_replace)
        self.filters["join"] = bounded(_join)
        self.filters[_TURNS] = _turns
        self.filters[_CONCAT] = _concat

    def getattr(self, obj: Any, attribute: str) -> Any:
        """As Jinja; but `spec.values` and `x.items` are keys of Kubernetes objects far more often than methods."""
        if isinstance(obj, Mapping) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def is_safe_callable(self, obj: Any) -> bool:
        """Nothing but harmless methods of texts and maps."""
        return isinstance(getattr(obj, "__self__", None), str | Mapping) and getattr(obj, "__name__", "") in _METHODS

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An operator, unless its result would be too large."""
        _look_at_the_clock()
        if operator == "**" or (operator == "%" and isinstance(left, str)):
            raise TooMuchError(_("'{operator}' is not allowed here").format(operator=operator))
        if operator == "*":
            _judge_product(left, right)
        if operator == "+" and isinstance(left, Sized) and isinstance(right, Sized):
            _judge_length(len(left) + len(right))
        return super().call_binop(context, operator, left, right)


def parse_bounded(environment: BoundedEnvironment, source: str) -> nodes.Template:
    """The tree of a template that keeps to the rules, with its loops counted. TemplateSyntaxError, with its line."""
    if len(source) > LONGEST_SOURCE:
        raise TemplateSyntaxError(_("longer than {limit} characters").format(limit=LONGEST_SOURCE), 1)
    try:
        tree = environment.parse(source)
    except RecursionError:
        raise TemplateSyntaxError(_too_deep(), 1) from None
    except ValueError:  # more digits than Python reads
        raise TemplateSyntaxError(_("a number that can't be used"), 1) from None
    waiting: list[tuple[nodes.Node, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise TemplateSyntaxError(_too_deep(), _line(node))
        if wrong := _wrong_with(node):
            raise TemplateSyntaxError(wrong, _line(node))
        waiting += [(child, depth + 1) for child in node.iter_child_nodes()]
    return _counted(tree)


def bounded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter whose result is not longer than a value may be."""

    @wraps(function)
    def filtered(*args: Any, **options: Any) -> Any:
        _look_at_the_clock()
        result = function(*args, **options)
        if isinstance(result, Sized) and not isinstance(result, Undefined):
            _judge_length(len(result))
        return result

    return filtered


def _wrong_with(node: nodes.Node) -> str:
    if not isinstance(node, _ALLOWED):
        name = type(node).__name__
        return _("'{word}' is not allowed here").format(word=_WRITTEN.get(name, f"{{% {name.lower()} %}}"))
    match node:
        case nodes.For(recursive=True):
            return _("'{word}' is not allowed here").format(word="recursive")
        case nodes.Getattr(attr=str(attribute)) if attribute.startswith("_"):
            return _("'{word}' is not allowed here").format(word=attribute)
        case nodes.Getitem(arg=nodes.Const(value=str(key))) if key.startswith("__"):
            return _("'{word}' is not allowed here").format(word=key)
        case nodes.Call(node=nodes.Getattr(attr=str(method))) if method in _METHODS:
            return ""
        case nodes.Call(node=nodes.Getattr(attr=str(method))):
            return _("'{word}' is not allowed here").format(word=f"{method}()")
        case nodes.Call():
            return _("functions are not called here; there are filters: value | filter")
    return ""


def _counted(tree: nodes.Template) -> nodes.Template:
    """With each loop over what counts its turns, and each `~` where its length is looked at."""
    for loop in tree.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, _TURNS, [], [], None, None, lineno=loop.lineno)
    for parent in [tree, *tree.find_all(nodes.Node)]:
        for name in parent.fields:
            value = getattr(parent, name)
            if isinstance(value, nodes.Concat):
                setattr(parent, name, _joined(value))
            elif isinstance(value, list):
                setattr(parent, name, [_joined(one) if isinstance(one, nodes.Concat) else one for one in value])
    return tree


def _joined(concat: nodes.Concat) -> nodes.Filter:
    parts = nodes.List(concat.nodes, lineno=concat.lineno)
    return nodes.Filter(parts, _CONCAT, [], [], None, None, lineno=concat.lineno)


def _turns(values: Iterable[Any]) -> Iterator[Any]:
    budget = _budget.get() or _Budget()
    for value in values:
        budget.turns -= 1
        if budget.turns < 0:
            raise TooMuchError(_("loops of more than {limit} turns").format(limit=MOST_TURNS))
        _look_at_the_clock()
        yield value


def _concat(values: list[Any]) -> str:
    texts = [str(value) for value in values]
    _judge_length(sum(map(len, texts)))
    return "".join(texts)


def _join(values: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    texts = []
    length = 0
    for value in values:
        found = value if attribute is None else value[attribute] if isinstance(value, Mapping) else Undefined()
        texts.append(str(found))
        length += len(texts[-1]) + len(str(d))
        _judge_length(length)
    return str(d).join(texts)


def _replace(text: Any, old: str, new: str, count: int | None = None) -> str:
    text, old, new = str(text), str(old), str(new)
    times = len(text) + 1 if not old else text.count(old)
    _judge_length(len(text) + times * len(new))
    replaced: str = text.replace(old, new) if count is None else text.replace(old, new, count)
    return replaced


def _judge_product(left: Any, right: Any) -> None:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Sized) and isinstance(other, int):
            _judge_length(len(one) * max(other, 0))
    if isinstance(left, int) and isinstance(right, int) and abs(left * right) > _LARGEST_NUMBER:
        raise TooMuchError(_("a number that can't be used"))


def _judge_length(length: int) -> None:
    if length > MOST:
        raise TooMuchError(_("a value of more than {limit} characters or entries").format(limit=MOST))


def _look_at_the_clock() -> None:
    budget = _budget.get()
    if budget is not None and time.monotonic() > budget.until:
        raise TooMuchError(_("it took longer than {seconds:.0f} s").format(seconds=MOST_SECONDS))


def _too_deep() -> str:
    return _("nested deeper than {limit} levels").format(limit=DEEPEST)


def _line(node: nodes.Node) -> int:
    return int(getattr(node, "lineno", 1) or 1)
