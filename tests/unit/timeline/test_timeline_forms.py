"""The timeline as a picture and as a document."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from grader.history.model import Gap
from grader.timeline.document import TimelineDocument, content
from grader.timeline.model import Timeline
from grader.timeline.svg import render_svg
from tests import histories
from tests.unit.conftest import Golden
from tests.unit.timeline.conftest import T0, Play, timeline_of

SVG = "{http://www.w3.org/2000/svg}"


class TestSvg:
    def test_of_lab_lws(self, golden: Golden, lws: Timeline) -> None:
        golden("timeline/lws.svg", render_svg(lws, title="lab-lws  One group, one fate"))

    def test_every_bar_has_a_tooltip_and_lies_in_the_picture(self, lws: Timeline) -> None:
        root = ET.fromstring(render_svg(lws, title="x"))
        bars = [each for each in root.iter(f"{SVG}rect") if each.find(f"{SVG}title") is not None]
        spans = [span for _group, row in lws.rows for life in row.lives for span in life.spans]
        assert len(bars) == len(spans)
        for bar in bars:
            assert float(bar.get("x", 0)) > 0
            assert float(bar.get("x", 0)) + float(bar.get("width", 0)) < 1000
        tips = "".join(each.findtext(f"{SVG}title", "") for each in bars)
        assert "llm-0-1" in tips
        assert "Terminating" in tips

    def test_recreations_and_restarts_are_marked(self, lws: Timeline) -> None:
        root = ET.fromstring(render_svg(lws, title="x"))
        tips = [each.findtext(f"{SVG}title", "") for each in root.iter(f"{SVG}path")]
        assert sum("another one in its place" in tip for tip in tips) == 2
        assert sum("started again" in tip for tip in tips) == 1

    def test_names_are_no_markup(self, play: Play) -> None:
        play.pod(0, "<b>&\x1b", "ADDED")
        root = ET.fromstring(render_svg(timeline_of(play.changes), title='"<&>'))
        assert root.get("aria-label") == '"<&>'
        assert any(each.text == "<b>&\\x1b" for each in root.iter(f"{SVG}text"))

    def test_what_was_not_recorded_is_hatched_and_said(self, play: Play) -> None:
        play.pod(0, "a", "ADDED")
        found = timeline_of(play.changes, gaps=(Gap("Pod", T0 + 3, T0 + 6, "expired"),), more=10)
        text = render_svg(found, title="x")
        assert 'fill="url(#unseen)"' in text
        assert "not recorded from 10:53:23 to 10:53:26" in text

    def test_of_nothing_says_so(self) -> None:
        assert "no pod has been seen yet" in render_svg(timeline_of([]), title="x")


class TestDocument:
    def test_has_the_whole_timeline(self, lws: Timeline) -> None:
        document = TimelineDocument.model_validate(
            {"lab": "lab-lws", "language": "en", **content(lws)}, by_name=True, by_alias=True
        )
        assert [(group.kind, group.name, group.part) for group in document.groups] == [
            ("LeaderWorkerSet", "llm", "group 0"),
            ("LeaderWorkerSet", "llm", "group 1"),
        ]
        worker = document.groups[0].rows[1]
        assert (worker.label, len(worker.lives), len(worker.lives[0].restarts)) == ("llm-0-1", 2, 1)
        assert worker.lives[0].gone is not None
        assert worker.lives[1].spans[-1].end is None

    def test_says_what_was_not_recorded(self, play: Play) -> None:
        play.pod(0, "a", "ADDED")
        found = content(timeline_of(play.changes, gaps=(Gap("Pod", T0 + 3, T0 + 6, "expired"),), more=10))
        assert [(gap["start"], gap["end"]) for gap in found["unseen"]] == [
            ("2025-11-30T10:53:23.000Z", "2025-11-30T10:53:26.000Z")
        ]

    def test_fits_a_real_jobset(self) -> None:
        made = content(timeline_of(histories.load("lab-jobset"), "team-a"))
        TimelineDocument.model_validate({"lab": "x", "language": "ko", **made}, by_name=True, by_alias=True)
