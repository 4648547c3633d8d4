"""Expected values as Jinja templates over objects: nothing undefined passes, no Python is reachable.

Owns the filters for objects (`env`, `condition`, `named`) and what a rendering comes to; what a template may do at
all is `grader.checks.template_bounds`'. Knows nothing of where objects come from. Templates
come from labs only: what a learner writes is compared, never rendered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, UndefinedError, meta
from jinja2.exceptions import SecurityError

from cluster.i18n import _
from grader.checks.faults import LabFault
from grader.checks.objects import ABSENT, DottedPath, Object, condition, dig, parse_path, title
from grader.checks.template_bounds import MOST, BoundedEnvironment, bounded, one_rendering, parse_bounded

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.lexer import Lexer

OBJECT_NAMES = frozenset({"apiVersion", "kind", "metadata", "spec", "status", "data"})
"""Names a template over one object may use: the object's own keys."""

ALWAYS = frozenset({"namespace"})
"""Names every template may use."""

_SHOWN = 120
"""Characters of a template that a message repeats."""

_TOO_MUCH_FOR_PYTHON = (RecursionError, MemoryError, SyntaxError, OverflowError)
"""What compiling a tree of many branches may come to."""


class NoValueError(Exception):
    """The cluster does not show (yet) what a template asks for: `detail` says which part."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class BadTemplateError(LabFault):
    """The lab's template is wrong: its author's fault, never the learner's."""


class _Missing(StrictUndefined):
    @property
    def _undefined_message(self) -> str:
        """What a learner may read, instead of "'dict object' has no attribute"."""
        return self._undefined_hint or _("there is no {name}").format(name=self._undefined_name)


def is_template(text: str) -> bool:
    """Whether `text` holds anything to render."""
    return "{{" in text or "{%" in text


def render(source: str, context: Mapping[str, Any]) -> str:
    """`source` rendered.

    NoValueError: the objects lack what it asks for. BadTemplateError: it is wrong itself.
    """
    if not is_template(source):
        return source
    try:
        with one_rendering():
            parts, length = [], 0
            for part in _compiled(source).generate(context):
                parts.append(part)
                length += len(part)
                if length > MOST:
                    raise BadTemplateError(_wrong(source, _("more than {limit} characters").format(limit=MOST)))
    except UndefinedError as error:
        raise NoValueError(str(error.message)) from error
    except TemplateSyntaxError as error:
        raise BadTemplateError(_wrong(source, error.message or "")) from error
    except (TemplateError, SecurityError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise BadTemplateError(_wrong(source, str(error))) from error
    except _TOO_MUCH_FOR_PYTHON as error:
        raise BadTemplateError(_wrong(source, _("it asks for too much"))) from error
    return "".join(parts)


def rendered(source: str, context: Mapping[str, Any]) -> str:
    """Like `render`, but an empty value counts as none: every text contains it."""
    text = render(source, context)
    if not text.strip():
        raise NoValueError(_("{expression} is empty").format(expression=expression(source)))
    return text


def evaluated(expression: str) -> Any:  # JSON
    """What an expression that uses no object gives, a number as a number: `3 * 2` → 6.

    NoValueError, BadTemplateError: as `render`.
    """
    try:
        found = _environment().compile_expression(expression, undefined_to_none=False)()
        if issubclass(type(found), StrictUndefined):
            str(found)  # raises: what is missing, or forbidden, is no value
        return found
    except UndefinedError as error:
        raise NoValueError(str(error.message)) from error
    except (TemplateError, SecurityError, TypeError, ValueError, ArithmeticError) as error:
        raise BadTemplateError(f"{expression!r}: {error}") from error


def lexer() -> Lexer:
    """Jinja's own, for who looks at the words of a template."""
    return _environment().lexer


def names(source: str) -> frozenset[str]:
    """The names a template uses."""
    return frozenset(meta.find_undeclared_variables(parse_bounded(_environment(), source)))


def problem(source: str, names: Iterable[str] | None = None) -> str:
    """What is wrong with a template before it is ever rendered, or an empty string.

    `names`: the names it may use; None leaves names unchecked.
    """
    from grader.checks.words import near

    if found := flaw(source):
        return found[0]
    tree = parse_bounded(_environment(), source)
    if names is None:
        return ""
    known = {*names, *ALWAYS}
    unknown = sorted(meta.find_undeclared_variables(tree) - known)
    if not unknown:
        return ""
    text = _("the template {source} uses {name}, which nothing defines here").format(
        source=_shown(source), name=unknown[0]
    )
    guess = near(unknown[0], known)
    return text + (_(" (did you mean {guess}?)").format(guess=guess) if guess else "")


def flaw(source: str) -> tuple[str, int] | None:
    """What is wrong with a template itself, and the line of it, from 1; None where nothing is."""
    try:
        parse_bounded(_environment(), source)
        _compiled(source)
    except TemplateSyntaxError as error:
        return _wrong(source, error.message or ""), error.lineno
    except TemplateError as error:
        return _wrong(source, str(error)), 1
    except _TOO_MUCH_FOR_PYTHON:
        return _wrong(source, _("it asks for too much")), 1
    return None


def _wrong(source: str, why: str) -> str:
    return _("the template {source} is wrong: {why}").format(source=_shown(source), why=why)


def _shown(source: str) -> str:
    from grader.checks.words import shorten

    return shorten(repr(source), _SHOWN)


def expression(source: str) -> str:
    """A template as a pointer for people: `{{ leader.status.podIP }}` → `leader.status.podIP`.

    A variable is called by its name alone; whose it is stands beside the pointer anyway.
    """
    text = re.sub(r"[\w.]+\s*\|\s*env\(\s*['\"]([^'\"]*)['\"][^)]*\)", r"\1", source)
    text = " ".join(re.sub(r"\{\{\s*(.*?)\s*\}\}", r"{\1}", text).split())
    alone = text.startswith("{") and text.find("}") == len(text) - 1
    return text[1:-1] if alone else text


@lru_cache(maxsize=512)
def _compiled(source: str) -> Template:
    environment = _environment()
    code = environment.compile(parse_bounded(environment, source))
    return environment.template_class.from_code(environment, code, environment.make_globals(None))


@cache
def _environment() -> BoundedEnvironment:
    # No escaping: what is rendered is compared with text, it never becomes HTML.
    environment = BoundedEnvironment(
        undefined=_Missing, autoescape=False, finalize=_as_text, keep_trailing_newline=True
    )
    environment.filters["env"] = bounded(_env)
    environment.filters["condition"] = _condition
    environment.filters["named"] = _named
    return environment


def _as_text(value: object) -> object:
    """Booleans and nothing as Kubernetes writes them, not as Python does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        raise UndefinedError(_("there is no value"))
    return value


def _env(pod: Object, name: str, container: str = "") -> str:
    """The value of environment variable `name` in a pod's containers (in `container` only, where named).

    A variable that takes its value from a field of the pod (`fieldRef`) is looked up there.
    """
    for spec in (pod.get("spec") or {}).get("containers") or []:
        if container and spec.get("name") != container:
            continue
        for variable in spec.get("env") or []:
            if variable.get("name") == name:
                return _value_of(variable, pod)
    raise UndefinedError(_("{object} has no variable {name}").format(object=title(pod), name=name))


def _value_of(variable: Mapping[str, Any], pod: Object) -> str:
    field = ((variable.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath")
    if not field:
        return str(variable.get("value", ""))
    value = dig(pod, parse_path(field))
    if value is ABSENT:
        raise UndefinedError(_("{object} has no {field}").format(object=title(pod), field=field))
    return str(value)


def _named(elements: list[Any], name: str) -> Any:  # JSON
    """The element of a list of maps whose `name`, `type` or `key` is `name`."""
    found = dig({"in": elements}, DottedPath("", ("in", name)))
    if found is ABSENT:
        raise UndefinedError(_("there is no {name}").format(name=name))
    return found


def _condition(obj: Object, kind: str) -> dict[str, Any]:
    found = condition(obj, kind)
    if found is None:
        raise UndefinedError(_("{object} has no condition {kind}").format(object=title(obj), kind=kind))
    return found
