"""Everything the code says to people has its words in every catalog, and they come out."""

from __future__ import annotations

import ast
import io
import re
from typing import TYPE_CHECKING

import pytest
from babel.messages.pofile import read_po
from rich.cells import cell_len

from cluster import i18n
from cluster.i18n import _
from grader.cli import run
from tests import messages

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

LANGUAGES = [language for language in i18n.LANGUAGES if language != "en"]
PLACE = re.compile(r"\{[^{}]*\}")
PARTICLE = re.compile(r"\{\w[^{}]*\}['`]?(을|를|은|는|이|가|과|와|로|으로|라|아|야)(?=[^가-힣]|$)")
"""A particle whose form depends on how the value before it ends."""


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def text(language: str) -> str:
    return messages.catalog_file(language).read_text(encoding="utf-8")


@pytest.fixture
def words(catalog: Catalog) -> dict[str, str]:
    """Message → translation, of those that have one."""
    return {str(message.id): str(message.string) for message in catalog if message.id and message.string}


@pytest.fixture
def catalog(text: str, language: str) -> Catalog:
    return read_po(io.StringIO(text), locale=language, abort_invalid=True)


def test_a_catalog_holds_what_the_code_says_and_nothing_else(text: str, language: str) -> None:
    assert messages.updated(text, language) == text, "run `make messages`"


def test_every_message_is_translated(text: str, language: str) -> None:
    assert messages.untranslated(text, language) == []


def test_no_entry_is_a_guess_or_a_leftover(text: str, catalog: Catalog) -> None:
    assert [message.id for message in catalog if message.id and message.fuzzy] == []
    assert not catalog.obsolete
    assert "fuzzy" not in text
    assert "msgctxt" not in text
    assert "msgid_plural" not in text


def test_the_header_is_complete(catalog: Catalog, language: str, text: str) -> None:
    header = dict(catalog.mime_headers)
    wanted = {"Project-Id-Version", "PO-Revision-Date", "Last-Translator", "Language-Team", "Language", "MIME-Version"}
    assert wanted | {"Content-Type", "Content-Transfer-Encoding", "Plural-Forms"} <= header.keys()
    assert header["Language"] == language
    assert header["Content-Type"].lower() == "text/plain; charset=utf-8"
    assert not re.search(r"/(home|root|work|tmp|Users)/|#: ", text)


def test_placeholders_are_those_of_the_message(words: dict[str, str]) -> None:
    for message, said in words.items():
        assert sorted(PLACE.findall(said)) == sorted(PLACE.findall(message)), message
        assert said.count("{{") == message.count("{{"), message


def test_what_surrounds_a_message_stays(words: dict[str, str]) -> None:
    """Messages are put beside one another: line breaks, and blanks at their ends, are part of them."""
    for message, said in words.items():
        assert said.count("\n") == message.count("\n"), message
        assert said[len(said.rstrip()) :] == message[len(message.rstrip()) :], message
        assert said.startswith(" ") == message.startswith(" "), message


def test_our_reading_of_a_catalog_is_babels(words: dict[str, str], language: str) -> None:
    ours = i18n._catalog(language)
    assert {message: ours.gettext(message) for message in words} == words
    assert ours.gettext("a message nobody has translated") == "a message nobody has translated"
    assert ours.gettext("") == "", "not the header"


def test_escapes_are_read() -> None:
    source = 'msgid ""\nmsgstr "Language: ko\\n"\n\nmsgid "a\\n"\n"\\"b\\""\nmsgstr ""\n"\\\\n\\t"\n"c"\n'
    assert list(i18n._entries(source)) == [('a\n"b"', "\\n\tc")]


def test_only_whole_literals_are_looked_up() -> None:
    """`_(f"…")` and `_("…".format())` would look up what no catalog can have."""
    wrong = [
        f"{path.relative_to(messages.ROOT)}:{call.lineno}"
        for path, module in messages.sources()
        for call in messages.look_ups(module)
        if len(call.args) != 1 or call.keywords or not isinstance(call.args[0], ast.Constant | ast.Name | ast.Attribute)
    ]
    assert wrong == []


def test_korean_particles_fit_any_value() -> None:
    text = messages.catalog_file("ko").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("msgstr") and PARTICLE.search(line)] == []


# -- what comes out ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "korean"),
    [
        ("PASS", "통과"),
        ("SKIP", "건너뜀"),
        ("wanted", "기대"),
        ("no command '{word}'", "없는 명령: '{word}'"),
        ("{passed} of {total} steps", "단계 {total}개 중 {passed}개 통과"),
        ("{command} failed:\n{output}", "명령이 실패했습니다: {command}\n{output}"),
    ],
)
def test_messages_come_out_in_korean(message: str, korean: str) -> None:
    assert _(message) == message
    i18n.set_language("ko")
    assert _(message) == korean


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--help"], "실습 목록과 진행 상황."),
        (["check", "--help"], "단계별로 검사합니다"),
        (["binaries", "--help"], "클러스터를 이루는"),
        (["report"], "실습"),
    ],
)
def test_commands_speak_korean(
    argv: list[str], said: str, state_home: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--lang", "ko", *argv]) == 0
    out = capsys.readouterr().out
    assert said in out
    assert not re.search(r"Usage:|Options:|This page", out)


def test_a_mistake_is_told_in_korean(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--lang", "ko", "lsit"]) == 2
    assert capsys.readouterr().err == (
        "grader: 없는 명령: 'lsit'. 혹시 'list'인가요?\n        쓰는 법은 `grader --help`로 볼 수 있습니다\n"
    )


@pytest.mark.parametrize("command", [[], ["check"], ["shell"], ["verify"], ["binaries"]])
def test_no_line_of_the_help_is_wider_than_a_terminal(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Hangul takes two cells."""
    run(["--lang", "ko", *command, "--help"])
    assert max(map(cell_len, capsys.readouterr().out.splitlines())) <= 80


def test_what_to_do_next_stands_in_one_column() -> None:
    i18n.set_language("ko")
    rows = ("  your files   {folder}", "  go there     grader shell {lab}", "  what to do   grader show {lab}")
    values = [re.search(r" ((\{folder\})|grader )", _(row)) for row in (*rows, "  earlier work {folder}")]
    assert len({cell_len(found.string[: found.start(1)]) for found in values if found}) == 1
    assert None not in values
