"""Articles with their questions, and the report."""

from __future__ import annotations

from grader.progress import Attempt
from grader.results import State
from tests.unit.tui.conftest import Drive, Played
from tests.unit.tui.pretended import NOON, PretendedBackend, row


async def reading(played: Played) -> None:
    """The article at the top of the course."""
    await played.press("k", "enter")
    await played.until(lambda: played.app.screen.query("MarkdownH1"))
    await played.rest()


class TestArticle:
    def test_answers_come_one_by_one(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await reading(played)
            answers = [question.answer for question in played.screen.article.questions]  # type: ignore[attr-defined]
            assert len(answers) == 3
            words = [answer.split()[0] for answer in answers]
            await played.press("end")
            assert "then press a" in played.text
            assert len(played.screen.query("MarkdownBlockQuote")) == 0
            for number, _word in enumerate(words, start=1):
                await played.press("a")
                await played.until(lambda n=number: len(played.screen.query("MarkdownBlockQuote")) == n)  # type: ignore[misc]
            await played.press("a")
            assert len(played.screen.query("MarkdownBlockQuote")) == 3

        drive(play)

    def test_all_answers_at_once(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await reading(played)
            await played.press("A")
            await played.until(lambda: len(played.screen.query("MarkdownBlockQuote")) == 3)

        drive(play)

    def test_speaks_the_other_language(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await reading(played)
            await played.press("L")
            await played.shows("파드: 가장 작은 단위")

        drive(play)

    def test_back_is_where_one_was(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await reading(played)
            await played.press("escape")
            await played.shows("Groups with one fate")

        drive(play)


ATTEMPTS = (
    Attempt(lab="lab-demo", at=NOON, seconds=1.0, total=3, steps={"groups": State.FAILED, "names": State.SKIPPED}),
    Attempt(lab="lab-demo", at=NOON + 60, seconds=1.0, total=3, steps={"groups": State.PASSED, "names": State.FAILED}),
)


class TestReport:
    def test_follows_the_cursor(self, drive: Drive, backend: PretendedBackend) -> None:
        async def play(played: Played) -> None:
            await played.press("p")
            await played.shows("22:14")
            await played.press("j")
            await played.shows("Checks of lab-new")
            assert "22:14" not in played.text
            await played.press("escape")
            await played.shows("Groups with one fate")

        backend.rows = [row("lab-demo", steps=1, attempts=ATTEMPTS), row("lab-new")]
        drive(play)

    def test_begins_where_one_was_last_at_work(self, drive: Drive, backend: PretendedBackend) -> None:
        async def play(played: Played) -> None:
            await played.press("p")
            await played.shows("Checks of lab-demo")
            await played.shows("22:14")

        backend.rows = [row("lab-new"), row("lab-demo", steps=1, attempts=ATTEMPTS)]
        drive(play)

    def test_of_nothing_says_so(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await played.press("p")
            await played.shows("No lab has been started yet")

        drive(play)
