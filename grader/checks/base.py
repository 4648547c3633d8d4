"""What every check is made of: the envelope all kinds share, references to objects, moments in time.

Owns `Check`, `CheckKind`, `ObjectRef` and the field types of check blocks; evaluates nothing itself. The
models are what lab files are validated with, so a wrong key or value is refused here, with its place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from cluster.i18n import _
from grader.checks import templates
from grader.checks.objects import KINDS as OBJECT_KINDS
from grader.checks.objects import NAMESPACED, SHORT, parse_path, titled
from grader.checks.selectors import parse_selector
from grader.checks.words import near

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.checks.world import World
    from grader.results import Verdict

ABSENT_MARK, ANY_MARK = "<absent>", "<any>"
"""Wanted values of a partial match that mean "must not be there" and "there, whatever it is"."""


class Model(BaseModel):
    """Data of a lab file: no unknown keys, never changed after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# -- field types ------------------------------------------------------------------------------------


def _good_path(text: str) -> str:
    parse_path(text)
    return text


def _good_selector(text: str) -> str:
    parse_selector(text)
    return text


def _good_template(text: str) -> str:
    if wrong := templates.problem(text):
        raise ValueError(wrong)
    return text


def _good_file(text: str) -> str:
    path = PurePosixPath(text)
    if not text.strip() or path.is_absolute() or ".." in path.parts or "\0" in text or path == PurePosixPath():
        raise ValueError(_("{name} is not a file inside the work folder").format(name=repr(text)))
    return text


def _good_partial(wanted: dict[str, Any]) -> dict[str, Any]:
    if not wanted:
        raise ValueError(_("an empty map matches everything: say what is wanted"))
    for text in strings_of(wanted):
        if text.startswith("<") and text.endswith(">") and text not in (ABSENT_MARK, ANY_MARK):
            raise ValueError(_("{mark} is none of {marks}").format(mark=repr(text), marks=f"{ABSENT_MARK}, {ANY_MARK}"))
        if wrong := templates.problem(text):
            raise ValueError(wrong)
    return wanted


def strings_of(value: object) -> Iterator[str]:
    """Every string inside a value of a lab file, keys apart."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings_of(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from strings_of(item)


Name = Annotated[str, Field(min_length=1)]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Number = Annotated[int, Field(strict=True, ge=0)]
Flag = Annotated[bool, Field(strict=True)]
Path = Annotated[str, Field(min_length=1), AfterValidator(_good_path)]
SelectorText = Annotated[str, AfterValidator(_good_selector)]
Template = Annotated[str, Field(min_length=1), AfterValidator(_good_template)]
FileName = Annotated[str, Field(min_length=1), AfterValidator(_good_file)]
Partial = Annotated[dict[str, Any], AfterValidator(_good_partial)]


# -- references -------------------------------------------------------------------------------------


class ObjectRef(Model):
    """One object by name, or objects by label selector; neither means every object of the kind."""

    kind: Name
    name: str = ""
    selector: SelectorText = ""
    api_version: str = Field(default="", alias="apiVersion")
    namespace: str = ""
    """Empty: the lab's namespace; of no meaning for kinds that have none."""

    @model_validator(mode="after")
    def _complete(self) -> ObjectRef:
        if self.name and self.selector:
            raise ValueError(_("a reference has a name or a selector, not both"))
        if not self.api_version and self.canonical_kind not in OBJECT_KINDS:
            guess = near(self.kind, OBJECT_KINDS)
            hint = _(" (did you mean {guess}?)").format(guess=guess) if guess else ""
            raise ValueError(_("kind {kind} needs its apiVersion").format(kind=self.kind) + hint)
        return self

    @property
    def canonical_kind(self) -> str:
        """The kind as the API writes it."""
        return SHORT.get(self.kind, self.kind)

    @property
    def version(self) -> str:
        """The apiVersion, the known one where none is given."""
        return self.api_version or OBJECT_KINDS[self.canonical_kind]

    def place(self, default: str) -> str | None:
        """The namespace to look in; None for kinds that have none."""
        known = self.canonical_kind in OBJECT_KINDS
        if known and self.canonical_kind not in NAMESPACED:
            return None
        return self.namespace or default

    def title(self, default: str) -> str:
        """`Pod infer/llm-0`, or `Pods with a=b in infer` for people."""
        place = self.place(default) or ""
        if self.name:
            return titled(self.canonical_kind, place, self.name)
        what = f"{self.canonical_kind}[{self.selector}]" if self.selector else self.canonical_kind
        return _("{what} in {namespace}").format(what=what, namespace=place) if place else what

    def command(self, default: str) -> str:
        """The kubectl command that shows it."""
        place = self.place(default)
        parts = ["kubectl", *(["-n", place] if place else []), "get", self.canonical_kind.lower()]
        if self.name:
            return " ".join([*parts, self.name, "-o", "yaml"])
        return " ".join([*parts, "-l", f"'{self.selector}'"] if self.selector else parts)


class NamedRef(ObjectRef):
    """One object, by name."""

    @model_validator(mode="after")
    def _named(self) -> NamedRef:
        if not self.name:
            raise ValueError(_("this reference needs a name"))
        return self


class Timed(Model):
    """When objects are looked at: now, as they were when the file was written, or before an incident."""

    when: Literal["now", "written"] = "now"
    before: str = ""
    """Id of a `happened` check: objects as they were just before what that check found."""

    @model_validator(mode="after")
    def _one_time(self) -> Timed:
        if self.before and self.when != "now":
            raise ValueError(_("a reference has `when` or `before`, not both"))
        return self

    @property
    def past(self) -> bool:
        """Whether history decides what is meant."""
        return bool(self.before) or self.when == "written"


class TimedRef(NamedRef, Timed):
    """One object at a moment."""


class WithRefs(Model):
    """`with`: named objects that templates may use."""

    refs: dict[Identifier, TimedRef] = Field(default={}, alias="with")

    @model_validator(mode="after")
    def _free_names(self) -> WithRefs:
        taken = sorted(self.refs.keys() & (templates.OBJECT_NAMES | templates.ALWAYS))
        if taken:
            raise ValueError(_("{name} is taken: call the object something else").format(name=taken[0]))
        return self

    @model_validator(mode="after")
    def _written_somewhere(self) -> WithRefs:
        if "file" not in type(self).model_fields:
            for name, ref in self.refs.items():
                if ref.when == "written":
                    raise ValueError(_("{name}: this check reads no file, so nothing was written").format(name=name))
        return self

    def befores(self) -> tuple[str, ...]:
        """The `happened` checks its references name."""
        return tuple(dict.fromkeys(ref.before for ref in self.refs.values() if ref.before))

    @property
    def ref_past(self) -> bool:
        """Whether history decides what one of its references means."""
        return any(ref.past for ref in self.refs.values())

    def ref_kinds(self) -> frozenset[str]:
        """The kinds of its objects."""
        return frozenset(ref.canonical_kind for ref in self.refs.values())


# -- checks -----------------------------------------------------------------------------------------


class CheckKind(Model, ABC):
    """What one kind of check says and how it is found out. One module each."""

    name: ClassVar[str]
    """Its key in a check block."""

    @abstractmethod
    def evaluate(self, world: World) -> Verdict:
        """Look once. Problems of the cluster or the history are raised, never a failed verdict."""

    @property
    def uses_history(self) -> bool:
        """Whether what happened earlier decides."""
        return False

    def kinds(self) -> frozenset[str]:
        """Kinds of objects it looks at: while they change, a failure may still turn true."""
        return frozenset()

    def files(self) -> tuple[str, ...]:
        """The learner's files it reads."""
        return ()

    def references(self) -> tuple[str, ...]:
        """Ids of the `happened` checks it refers to by `before`."""
        return ()

    def templates(self) -> tuple[str, ...]:
        """Every Jinja source in it."""
        return ()


class Envelope(Model):
    """What every check says beside its kind."""

    id: Slug
    says: Name
    """The sentence a learner reads: what is true when it passes."""
    after: tuple[Slug, ...] = ()
    """Checks of the same lab that must pass first; it is skipped until they do."""
    hold: Literal["once", "now"] = "once"
    """once: an achievement stays; now: it must be true at each check."""
    within: Annotated[int, Field(strict=True, ge=0, le=300)] = 0
    """Seconds a failure may still turn true while controllers move."""
    weight: Annotated[int, Field(strict=True, ge=1)] = 1
    look_at: str = ""
    """A command or field to look at when it fails."""

    @model_validator(mode="after")
    def _not_itself(self) -> Envelope:
        if self.id in self.after:
            raise ValueError(_("a check can't come after itself"))
        return self


class Check(Envelope):
    """One check of a lab."""

    kind: CheckKind


def names_problem(sources: Iterable[str], names: Iterable[str]) -> str:
    """The first template that uses a name nothing defines, in words; empty where all is well."""
    allowed = frozenset(names)
    return next((wrong for source in sources if (wrong := templates.problem(source, allowed))), "")
