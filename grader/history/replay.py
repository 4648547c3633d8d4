"""Changes that a watch can no longer tell, read from the versions the API server still has.

After a restart kube-apiserver refuses to resume any watch but one from its very last revision, although etcd
has everything: its watch cache begins at that moment. Lists "exactly as of revision N" are still answered, and
one list for each revision that was missed leaves no room for an object that came and went unseen.

Owns that walk; knows nothing of how its result is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.history.writer import Row

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from cluster.api import Api
    from grader.history.kinds import RecordedKind
    from grader.history.model import Verb

LONGEST = 300
"""Revisions to be looked at: beyond it a gap is a better answer than half a minute of lists."""


def unheard(after: int, until: int, heard: Container[int]) -> list[int] | None:
    """The revisions in (after, until] that `heard`, those of other kinds, has not; None: more than LONGEST."""
    revisions: list[int] = []
    for revision in range(after + 1, until + 1):
        if revision not in heard:
            if len(revisions) == LONGEST:
                return None
            revisions.append(revision)
    return revisions


def replay(
    api: Api, kind: RecordedKind, living: dict[str, int], revisions: Iterable[int], heard: Container[int]
) -> Iterator[tuple[int, Row | None, str]]:
    """(revision, row, uid) of each change of `kind` in the `revisions`; row None: that uid was deleted.

    `living` is uid → revision before them; it is not changed. `heard` may grow meanwhile. WatchExpired: one of
    them was compacted away.
    """
    living = dict(living)
    for revision in revisions:
        if revision in heard:
            continue
        now: dict[str, tuple[int, str, str]] = {}
        for page in api.pages(*kind, exact=str(revision), metadata_only=True):
            for item in page.items:
                meta = item["metadata"]
                version = int(meta["resourceVersion"])
                now[meta["uid"]] = version, meta.get("namespace", ""), meta["name"]
        for uid in living.keys() - now.keys():
            del living[uid]
            yield revision, None, uid
        for uid, (version, namespace, name) in now.items():
            if living.get(uid) != version:
                verb: Verb = "MODIFIED" if uid in living else "ADDED"
                living[uid] = version
                yield revision, _row(api, kind, verb, namespace, name, revision), uid


def _row(api: Api, kind: RecordedKind, verb: Verb, namespace: str, name: str, revision: int) -> Row:
    fields = f"metadata.name={name}" + (f",metadata.namespace={namespace}" if namespace else "")
    pages = api.pages(*kind, fields=fields, exact=str(revision))
    return Row.of(verb, next(item for page in pages for item in page.items))
