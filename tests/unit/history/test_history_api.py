"""What the recorder needs of the API port: pages of a list, and a watch that may be quiet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cluster.errors import ApiRefused, ApiUnavailable, WatchExpired
from tests.unit.history.conftest import LWS, POD

if TYPE_CHECKING:
    from tests.unit.history.conftest import Lab


def test_pages_are_parts_of_one_list(lab: Lab) -> None:
    for name in "abcde":
        lab.cluster.put(POD, name)
    pages = lab.api().pages(*POD, limit=2)
    first = next(pages)
    lab.cluster.put(POD, "f")
    rest = list(pages)
    assert [[item["metadata"]["name"] for item in page.items] for page in (first, *rest)] == [
        ["a", "b"],
        ["c", "d"],
        ["e"],
    ]
    assert [page.remaining for page in (first, *rest)] == [3, 1, 0]
    assert {page.version for page in (first, *rest)} == {str(lab.cluster.revision - 1)}
    assert {(item["apiVersion"], item["kind"]) for page in rest for item in page.items} == {("v1", "Pod")}


def test_an_empty_list_is_a_page(lab: Lab) -> None:
    assert list(lab.api().pages(*POD)) == [([], str(lab.cluster.revision), 0)]


def test_a_list_as_it_was(lab: Lab) -> None:
    old = lab.cluster.put(POD, "a", phase="Pending")["metadata"]["resourceVersion"]
    lab.cluster.put(POD, "a", phase="Running")
    lab.cluster.put(POD, "b")
    [page] = lab.api().pages(*POD, exact=old)
    assert [(item["metadata"]["name"], item["phase"]) for item in page.items] == [("a", "Pending")]
    lab.cluster.compact()
    with pytest.raises(WatchExpired):
        list(lab.api().pages(*POD, exact=old))


def test_only_metadata(lab: Lab) -> None:
    lab.cluster.put(POD, "a", phase="Pending")
    [page] = lab.api().pages(*POD, metadata_only=True)
    assert set(page.items[0]) == {"apiVersion", "kind", "metadata"}


def test_a_kind_that_is_not_served(lab: Lab) -> None:
    with pytest.raises(ApiRefused) as refused:
        list(lab.api().pages(*LWS))
    assert refused.value.status == 404


def test_a_quiet_watch_lasts_as_long_as_the_server_lets_it(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    api = lab.api()
    request = api._pool.request
    given: list[Any] = []

    def spy(*args: Any, **named: Any) -> Any:
        given.append(named["timeout"])
        return request(*args, **named)

    monkeypatch.setattr(api._pool, "request", spy)
    assert list(api.watch(*POD, "10", seconds=1)) == []
    assert (given[-1].total, given[-1].read_timeout) == (None, 16)


def test_a_watch_from_too_long_ago_is_refused_at_once(lab: Lab) -> None:
    lab.cluster.compact()
    with pytest.raises(WatchExpired):
        lab.api().watch(*POD, "1")


@pytest.mark.parametrize("line", [b"garbage\n", b'{"type": "ERROR", "object": {"code": 500, "message": "broken"}}\n'])
def test_a_watch_that_says_nonsense(lab: Lab, line: bytes) -> None:
    lab.cluster.say(POD, line)
    events = lab.api().watch(*POD, str(lab.cluster.revision))
    with pytest.raises(ApiUnavailable):
        next(events)


def test_a_watch_of_metadata_or_of_one_name_says_so(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    api = lab.api()
    request = api._pool.request
    asked: list[tuple[str, str]] = []

    def spy(method: str, url: str, **named: Any) -> Any:
        asked.append((url.partition("?")[2], named["headers"]["Accept"]))
        return request(method, url, **named)

    monkeypatch.setattr(api._pool, "request", spy)
    assert list(api.watch(*POD, "10", seconds=1, fields="metadata.name=a", metadata_only=True)) == []
    query, accept = asked[-1]
    assert "fieldSelector=metadata.name%3Da" in query
    assert accept == "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


def test_any_path_can_be_fetched(lab: Lab) -> None:
    assert lab.api().fetch("/readyz") == b"{}"
    with pytest.raises(ApiRefused):
        lab.api().fetch("/nowhere/at/all")
