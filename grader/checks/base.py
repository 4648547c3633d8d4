"""What every check is made of: the envelope all kinds share, references to objects, moments in time.

Owns `Check`, `CheckKind` and `ObjectRef`; evaluates nothing itself. The models are what lab files are validated
with, so a wrong key or value is refused here, with its place.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from cluster.i18n import _
from grader.checks import templates
from grader.checks.fields import Identifier, Model, Name, SelectorText, Slug
from grader.checks.objects import KINDS as OBJECT_KINDS
from grader.checks.objects import NAMESPACED, SHORT, Object, meta, owned_by, titled
from grader.checks.selectors import parse_selector
from grader.checks.words import near
from grader.history.kinds import RECORDED, RecordedKind

if TYPE_CHECKING:
    from grader.checks.world import World
    from grader.results import Verdict

# -- references -------------------------------------------------------------------------------------


class OwnerRef(Model):
    """Whom an object belongs to, by its own ownerReferences."""

    kind: Name
    name: Name

    @property
    def canonical_kind(self) -> str:
        """The kind as the API writes it."""
        return SHORT.get(self.kind, self.kind)


class ObjectRef(Model):
    """One object by name, or objects by label selector, owner or both; none means every object of the kind."""

    kind: Name
    name: str = ""
    selector: SelectorText = ""
    owner: OwnerRef | None = None
    """Only what belongs to that object: a Workload and many a pod have a name nobody knows beforehand."""
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

    def means(self, obj: Object) -> bool:
        """Whether an object of its kind and namespace is one of those it means."""
        if self.name and meta(obj).get("name") != self.name:
            return False
        if self.owner and not owned_by(obj, self.owner.canonical_kind, self.owner.name):
            return False
        return parse_selector(self.selector).matches(obj)

    def need_history(self) -> None:
        """ValueError where the recorder does not follow the kind: nobody could say what it was."""
        if RecordedKind(self.version, self.canonical_kind) not in RECORDED:
            raise ValueError(_("{kind} is not recorded, so its past is unknown").format(kind=self.canonical_kind))

    def title(self, default: str) -> str:
        """`Pod infer/llm-0`, or `Pod[jobset-name=train] in team-a`, for people."""
        place = self.place(default) or ""
        if self.name:
            return titled(self.canonical_kind, place, self.name)
        # Without the domains of its keys, unless nothing but `name` would be left: the command has it whole.
        selector = re.sub(r"[\w.-]+/(?!name(?![\w.-]))", "", self.selector)
        what = f"{self.canonical_kind}[{selector}]" if selector else self.canonical_kind
        if self.owner:
            what = _("{what} of {owner}").format(what=what, owner=f"{self.owner.canonical_kind} {self.owner.name}")
        return _("{what} in {namespace}").format(what=what, namespace=place) if place else what

    def command(self, default: str) -> str:
        """The kubectl command that shows it."""
        place = self.place(default)
        parts = ["kubectl", *(["-n", place] if place else []), "get", self.canonical_kind.lower()]
        if self.name:
            return " ".join([*parts, self.name, "-o", "yaml"])
        return " ".join([*parts, "-l", f"'{self.selector}'"] if self.selector else parts)


class OneRef(ObjectRef):
    """One object: by name, or by what only it has. Of several, `objects.the_one` is meant."""

    @model_validator(mode="after")
    def _told_apart(self) -> OneRef:
        if not (self.name or self.selector or self.owner):
            raise ValueError(_("this reference needs a name, a selector or an owner"))
        return self


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


class TimedRef(OneRef, Timed):
    """One object at a moment."""

    @model_validator(mode="after")
    def _recorded(self) -> TimedRef:
        if self.past:
            self.need_history()
        return self


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
