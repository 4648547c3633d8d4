"""A lab on the screen: its text, its steps, its checks, its hints, and what keys do with them."""

from __future__ import annotations

import pytest

from grader.lab.model import Lab
from grader.results import State
from tests.unit.tui.conftest import Drive, Played
from tests.unit.tui.pretended import PretendedBackend, verdict
from tui.backend.model import Look
from tui.screens.lab import LabScreen
from tui.widgets.prose import Prose

SIZES = [(80, 24), (100, 30), (120, 40)]
HALF = State.PASSED


async def opened(played: Played, *, running: bool = True) -> Lab:
    """Go to the lab, with its first verdict if it runs."""
    played.backend.machine = "running" if running else "stopped"
    await played.press("enter")
    await played.until(lambda: isinstance(played.app.screen, LabScreen) and played.app.screen.query("MarkdownH1"))
    lab = await played.backend.lab("lab-demo")
    if running:
        played.backend.looks.put_nowait(Look(report=verdict(lab)))
        await played.until(lambda: played.app.screen.query("#checks")[0].option_count > 0)  # type: ignore[attr-defined]
    await played.rest()
    return lab


async def told(played: Played, **states: State) -> None:
    """Another verdict."""
    lab = await played.backend.lab("lab-demo")
    played.backend.looks.put_nowait(Look(report=verdict(lab, **states)))
    await played.until(played.backend.looks.empty)
    await played.rest()


def test_a_stopped_lab_says_how_to_start_it(drive: Drive) -> None:
    async def play(played: Played) -> None:
        await opened(played, running=False)
        assert "g starts a cluster of its own" in played.text
        assert "c check" not in played.text

    drive(play)


def test_who_may_not_start_it_is_told_why(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played, running=False)
        assert "only root can start it" in played.text
        assert "g start" not in played.text
        await played.press("g")
        assert backend.starts == []

    backend.obstacles = ("lab-demo: only root can start it",)
    drive(play)


def test_opens_at_the_first_step_that_has_not_passed(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        assert "step 2 of 3" in played.text

    backend.passed = frozenset({"groups"})
    drive(play)


def test_a_step_that_passes_is_said_counted_and_led_on_from(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        assert "0 of 3 steps" in played.text
        await told(played, lws_yaml=State.PASSED)
        assert backend.checks == []
        backend.check_answers = [Look()]
        await told(played, lws_yaml=State.PASSED, llm_live=State.PASSED)
        await played.shows("step 1 passed: Two groups")
        await played.shows("1 of 3 steps")
        await played.until(lambda: backend.checks == ["groups"])
        assert "passed: n goes on" in played.text
        await played.press("n")
        assert "step 2 of 3" in played.text

    drive(play, size=(120, 40))


def test_what_passed_before_is_no_news(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        await told(played, lws_yaml=State.PASSED, llm_live=State.PASSED)
        await played.shows("1 of 3 steps")
        assert "step 1 passed" not in played.text
        assert backend.checks == []

    backend.passed = frozenset({"groups"})
    drive(play)


def test_the_whole_lab_done_is_said(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        backend.check_answers = [Look(), Look(), Look()]
        done = {"lws_yaml": HALF, "llm_live": HALF, "names_match": HALF, "group_new": HALF}
        await told(played, **done)
        await played.shows("every step of lab-demo has passed")
        assert "3 of 3 steps" in played.text

    drive(play, size=(120, 40))


@pytest.mark.parametrize(
    ("state", "word"),
    [(State.PASSED, "PASS"), (State.WAITING, "WAIT"), (State.ERROR, "ERR"), (State.FAILED, "FAIL")],
)
def test_states_are_words(drive: Drive, state: State, word: str) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        await told(played, lws_yaml=state)
        await played.shows(word)
        assert ("SKIP" in played.text) is (state is not State.PASSED)

    drive(play)


class TestChecks:
    def test_open_and_close(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            assert "wanted" not in played.text
            await played.press("tab", "enter")
            for text in ("wanted", "spec.replicas is 1; 두 그룹이 아니다", "lws.yaml:6", "kubectl get lws llm"):
                assert text in played.text
            await played.press("enter")
            assert "wanted" not in played.text

        drive(play)

    def test_asked_for_count_and_open_the_first_that_does_not_hold(
        self, drive: Drive, backend: PretendedBackend
    ) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            await played.press("c")
            await played.until(lambda: backend.checks == [None])
            await played.shows("wanted")

        drive(play)

    def test_stay_open_while_others_change(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            await played.press("c")
            await played.shows("wanted")
            await told(played)
            assert "wanted" in played.text

        drive(play)


class TestHints:
    def test_come_one_by_one(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            assert "hints 0 of 2" in played.text
            await played.press("h")
            await played.shows("Hint 1 of 2")
            assert "Hint 2 of 2" not in played.text
            await played.press("h")
            await played.shows("Hint 2 of 2")
            await played.press("h")
            assert "hints 2 of 2" in played.text

        drive(play, size=(80, 50))

    def test_that_cannot_be_noted_say_so(self, drive: Drive, backend: PretendedBackend) -> None:
        from cluster.errors import EnvironmentProblem

        async def play(played: Played) -> None:
            await opened(played)
            await played.press("h")
            await played.shows("No space left on device")

        backend.hint_failure = EnvironmentProblem("can't use progress.json: No space left on device")
        drive(play)

    def test_a_step_without_any_has_no_key(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            assert "h hint" in played.text
            await played.press("n")
            assert "h hint" not in played.text

        drive(play, size=(110, 30))


class TestBlocks:
    def test_the_first_that_runs_is_chosen(self, drive: Drive) -> None:
        """So that one sees which it is, and what can be done with it."""

        async def play(played: Played) -> None:
            await opened(played)
            chosen = played.screen.query_one(Prose).chosen
            assert chosen is not None
            assert chosen.code.startswith("kubectl explain")
            await played.shows("R run")
            assert played.screen.query_one("#text").scroll_offset.y == 0, "it begins at the beginning"

        drive(play, size=(80, 40))

    def test_are_chosen_round_and_round(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            codes = []
            for _number in range(4):
                await played.press("right_square_bracket")
                chosen = played.screen.query_one(Prose).chosen
                assert chosen is not None
                codes.append(chosen.code.split()[1])
            assert codes == ["limits:", "apply", "explain", "limits:"]
            await played.press("left_square_bracket")
            assert played.screen.query_one(Prose).chosen.code.startswith("kubectl explain")  # type: ignore[union-attr]

        drive(play)

    def test_what_is_not_seen_is_not_run(self, drive: Drive) -> None:
        """The first key shows which block it is, the second runs it."""

        async def play(played: Played) -> None:
            await opened(played)
            await played.press("end", "R")
            await played.shows("the same key once more")
            assert played.app.clipboard == ""
            await played.shows("kubectl explain")
            await played.press("R")
            assert played.app.clipboard.startswith("kubectl explain")

        drive(play, size=(80, 18))

    def test_a_hint_leaves_the_choice(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            await played.press("right_square_bracket", "h")
            await played.until(lambda: played.backend.hints)
            chosen = played.screen.query_one(Prose).chosen
            assert chosen is not None
            assert chosen.code.startswith("resources:")

        drive(play)

    def test_are_copied(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            await played.press("right_square_bracket", "y")
            assert played.app.clipboard.startswith("resources:")

        drive(play)

    def test_to_read_are_not_typed(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            await played.press("right_square_bracket", "R")
            await played.shows("to read, not to run")

        drive(play)

    def test_without_tmux_are_copied_instead(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            await played.press("R")
            await played.shows("without tmux")
            assert played.app.clipboard.startswith("kubectl explain")

        drive(play)


class TestSteps:
    def test_can_be_read_ahead(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            await played.press("n", "n", "n", "n")
            assert "step 3 of 3" in played.text
            await played.press("p", "p", "p", "p")
            assert "A model that is too large" in played.text

        drive(play)

    def test_links_lead_to_them(self, drive: Drive) -> None:
        from textual.widgets import Markdown

        async def play(played: Played) -> None:
            await opened(played)
            prose = played.screen.query_one(Prose)
            prose.post_message(Markdown.LinkClicked(prose, "#restart"))
            await played.shows("step 3 of 3")

        drive(play)

    def test_a_click_goes_there(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            at = played.text.splitlines()[1].index("3")
            await played.pilot.click("Steps", offset=(at, 0))
            await played.shows("step 3 of 3")

        drive(play)


def test_the_language_changes_where_one_is(drive: Drive) -> None:
    async def play(played: Played) -> None:
        lab = await opened(played)
        await played.press("n", "L")
        await played.shows("names.txt를 쓰세요")
        played.backend.looks.put_nowait(Look(report=verdict(lab)))
        played.backend.looks.put_nowait(Look(report=verdict(await played.backend.lab("lab-demo"))))
        await played.shows("정확히 한 줄씩")

    drive(play)


def test_resizing_keeps_the_place(drive: Drive) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        await played.press("n")
        for size in ((120, 40), (60, 16), (40, 12), (30, 8), (80, 24)):
            await played.pilot.resize_terminal(*size)
            await played.rest()
        assert "step 2 of 3" in played.text
        assert "FAIL" in played.text

    drive(play)
