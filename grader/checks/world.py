"""What checks may look at, read only, and one snapshot for a whole round of evaluation.

Owns the ports (`ClusterReader`, `History`, `Executor`) and the caching; knows nothing of what is right. One
API list per kind serves every check of a round, so checks can't contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from cluster.errors import ApiRefused, ApiUnavailable, EnvironmentProblem
from cluster.i18n import _
from grader.checks.objects import Object, meta, the_one, uid
from grader.checks.trace import Trace
from grader.checks.words import clock, period

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from cluster.scripts import Ending, Order
    from grader.checks.base import Check, ObjectRef
    from grader.checks.happened.forms import Account, Form
    from grader.checks.work import WorkFolder


class HistoryGap(EnvironmentProblem):  # a Problem, named as the others are
    """What a check needs to know happened while nothing was recorded. The engine adds which lab to reset."""

    def __init__(self, start: float, end: float) -> None:
        if start > 0:
            message = _("the recorder was down {period}").format(period=period(start, end))
        else:  # a new history file was begun in the middle of a session
            message = _("nothing before {time} was recorded").format(time=clock(end))
        super().__init__(message)
        self.start = start
        self.end = end


class ClusterReader(Protocol):
    """The live cluster; `cluster.api.Api` is one."""

    def list_page(self, api_version: str, kind: str, namespace: str | None = None) -> tuple[list[Object], str]:
        """Every object of a kind in a namespace (None: all) and its resourceVersion."""


class Change(Protocol):
    """One recorded change; `grader.history.store.Change` is one."""

    @property
    def seq(self) -> int:
        """Order of recording: within one kind the order in which things happened."""

    @property
    def at(self) -> float:
        """Unix seconds, the recorder's clock."""

    @property
    def verb(self) -> str:
        """ADDED, MODIFIED or DELETED."""

    @property
    def name(self) -> str:
        """metadata.name."""

    @property
    def uid(self) -> str:
        """metadata.uid."""

    @property
    def object(self) -> Object:
        """The object as it was then."""


class Gap(Protocol):
    """A time in which a kind was not recorded, Unix seconds."""

    @property
    def start(self) -> float:
        """When recording stopped."""

    @property
    def end(self) -> float:
        """When it went on."""


class History(Protocol):
    """What was recorded; `grader.history.store.HistoryReader` is one."""

    def changes(self, kind: str, *, namespace: str | None = None, api_version: str | None = None) -> Iterator[Change]:
        """Every change of a kind, in order of seq."""

    def at(
        self, kind: str, when: float, *, namespace: str | None = None, api_version: str | None = None
    ) -> list[Object]:
        """The objects as they were at a time."""

    def gaps(self, kind: str) -> Sequence[Gap]:
        """Every gap in the record of a kind."""

    def last_change(self, kinds: tuple[str, ...]) -> float | None:
        """When any of these kinds changed last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How a command ended. `exit` is None where it ran out of time."""

    exit: int | None
    stdout: str
    stderr: str = ""


class Executor(Protocol):
    """Runs a command in a pod, or, where `pod` is empty, where the learner works."""

    def execute(self, argv: Sequence[str], *, namespace: str, pod: str, container: str, seconds: float) -> Execution:
        """Wait for it at most `seconds`. EnvironmentProblem where no command can be run at all."""


class Scripts(Protocol):
    """Runs a lab's own scripts where they can harm nothing; `grader.session.scripts.SessionScripts` is one."""

    def run(self, order: Order) -> Ending:
        """How the last of them ended. EnvironmentProblem where none can be run at all."""


class World:
    """One look at everything. Make a new one to look again."""

    def __init__(
        self,
        *,
        cluster: ClusterReader,
        history: History,
        work: WorkFolder,
        namespace: str,
        lab_folder: Path,
        checks: Mapping[str, Check],
        executor: Executor | None = None,
        scripts: Scripts | None = None,
        now: datetime | None = None,
        confined: bool = False,
    ) -> None:
        """`checks`: the lab's checks by id, for references by `before`; `now`: the time of this round; `confined`:
        functions of the lab's checks.py are a stranger's, and run in a cell."""
        self.trace: Trace | None = None
        """Told of all that is read from now on, where somebody wants to know."""
        self.work = work
        self.namespace = namespace
        self.lab_folder = lab_folder
        self.confined = confined
        self.commanded = False
        """Whether a command was run for this look."""
        self._executor = executor
        self._scripts = scripts
        self.now = now or datetime.now(UTC)
        self._cluster = cluster
        self._history = history
        self._checks = checks
        self._lists: dict[tuple[str, str], list[Object]] = {}
        self._changes: dict[tuple[str, str, str | None], tuple[Change, ...]] = {}
        self._unavailable: ApiUnavailable | None = None
        self._past: dict[tuple[str, str, str | None, float], list[Object]] = {}
        self._accounts: dict[int, tuple[Form, Account, tuple[str, ...]]] = {}  # by identity: a form holds maps

    def elsewhere(self, *, cluster: ClusterReader, history: History, work: WorkFolder) -> World:
        """The same look by other ways to the world, for who must not use ours; no command can be run there."""
        return World(
            cluster=cluster,
            history=history,
            work=work,
            namespace=self.namespace,
            lab_folder=self.lab_folder,
            checks=self._checks,
            now=self.now,
        )

    @property
    def history(self) -> History:
        """What was recorded."""
        return self._history

    @property
    def executor(self) -> Executor | None:
        """What runs commands; who asks for it is going to use it."""
        self.commanded = True
        return self._executor

    @property
    def scripts(self) -> Scripts | None:
        """What runs the lab's scripts; who asks for it is going to use it."""
        self.commanded = True
        return self._scripts

    @property
    def listed(self) -> frozenset[tuple[str, str]]:
        """(apiVersion, kind) of what this look saw of the cluster as it is."""
        return frozenset(self._lists)

    # -- now ----------------------------------------------------------------------------------------

    def all(self, api_version: str, kind: str, namespace: str | None) -> list[Object]:
        """Every object of a kind now, in a namespace or (None) in all; none where the cluster has no such kind."""
        every = self._every(api_version, kind)
        if namespace is None:
            return every
        return [obj for obj in every if meta(obj).get("namespace", namespace) == namespace]

    def _every(self, api_version: str, kind: str) -> list[Object]:
        # Of all namespaces, whichever is asked for: so one list serves a check and the explanation of its failure.
        key = (api_version, kind)
        if key not in self._lists:
            if self._unavailable is not None:
                raise self._unavailable  # one time-out a round is enough
            try:
                self._lists[key] = self._cluster.list_page(api_version, kind)[0]
            except ApiUnavailable as trouble:
                self._unavailable = trouble
                raise
            except ApiRefused as refusal:
                if refusal.status != 404:
                    raise
                self._lists[key] = []
        return self._lists[key]

    def select(self, ref: ObjectRef) -> list[Object]:
        """The objects a reference means now, in the order of their names."""
        found = _chosen(ref, self.all(ref.version, ref.canonical_kind, ref.place(self.namespace)))
        self._tell(ref, found, None)
        return found

    def get(self, ref: ObjectRef) -> Object | None:
        """The one object a reference means now."""
        return the_one(self.select(ref))

    def _tell(self, ref: ObjectRef, found: list[Object], at: float | None) -> None:
        if self.trace is not None:
            versions = [str(meta(obj).get("resourceVersion", "")) for obj in found]
            self.trace.objects(ref.title(self.namespace), versions, at)

    def traced(self) -> Trace:
        """A new account of what is read from now on."""
        self.trace = self.work.trace = Trace()
        return self.trace

    # -- then ---------------------------------------------------------------------------------------

    def select_at(self, ref: ObjectRef, when: float) -> list[Object]:
        """The objects a reference meant at a time (Unix seconds), by history."""
        version, kind, place = ref.version, ref.canonical_kind, ref.place(self.namespace)
        key = (version, kind, place, when)
        if key not in self._past:
            self._past[key] = self._history.at(kind, when, namespace=place, api_version=version)
        found = _chosen(ref, self._past[key])
        self._tell(ref, found, when)
        return found

    def changes(self, ref: ObjectRef) -> list[Change]:
        """Every recorded change of the objects a reference means, in order."""
        changes = self._recorded(ref.version, ref.canonical_kind, ref.place(self.namespace))
        found = [change for change in changes if ref.means(change.object)]
        if self.trace is not None:
            self.trace.history(ref.title(self.namespace), found)
        return found

    def last_change(self, obj: Object) -> float | None:
        """When an object changed last (Unix seconds), by history; None where it was never recorded."""
        place = meta(obj).get("namespace")
        changes = self._recorded(str(obj.get("apiVersion")), str(obj.get("kind")), place)
        return max((change.at for change in changes if change.uid == uid(obj)), default=None)

    def _recorded(self, version: str, kind: str, place: str | None) -> tuple[Change, ...]:
        key = (version, kind, place)
        if key not in self._changes:
            self._changes[key] = tuple(self._history.changes(kind, namespace=place, api_version=version))
        return self._changes[key]

    def gaps(self, ref: ObjectRef) -> Sequence[Gap]:
        """When the reference's kind was not recorded."""
        return self._history.gaps(ref.canonical_kind)

    def changed_within(self, kinds: frozenset[str], seconds: float) -> bool:
        """Whether an object of these kinds changed in the last `seconds`."""
        last = self._history.last_change(tuple(sorted(kinds))) if kinds else None
        return last is not None and self.now.timestamp() - last <= seconds

    def account(self, form: Form) -> Account:
        """What a form of `happened` makes of the history, found out once a round."""
        if id(form) not in self._accounts:
            outer, self.trace = self.trace, None if self.trace is None else Trace()
            try:
                account = form.account(self)
            finally:
                inner, self.trace = self.trace, outer
            self._accounts[id(form)] = (form, account, inner.lines if inner else ())
        _form, account, read = self._accounts[id(form)]
        if self.trace is not None:
            self.trace.more(read)
        return account

    def account_of(self, check_id: str) -> Account:
        """The same of the `happened` check of that id."""
        from grader.checks.happened import Happened

        kind = self._checks[check_id].kind
        if not isinstance(kind, Happened):
            raise TypeError(f"{check_id} is not a check of what happened")
        return self.account(kind.form)

    def says(self, check_id: str) -> str:
        """The sentence of another check of the lab."""
        return self._checks[check_id].says


def _chosen(ref: ObjectRef, objects: list[Object]) -> list[Object]:
    return sorted(filter(ref.means, objects), key=_order)


def _order(obj: Object) -> tuple[Any, ...]:
    return (str(meta(obj).get("namespace") or ""), str(meta(obj).get("name", "")))
