"""Help pages: golden in English, every word looked up for another language, never wider than a terminal."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from cluster import i18n
from grader.cli.root import SECTIONS
from tests.unit.cli.conftest import Grader
from tests.unit.conftest import Golden

COMMANDS = [name for _title, rows in SECTIONS for name, _does in rows]
COLLECTIONS = ("add", "list", "show", "accept", "update", "remove")
PAGES = [
    [],
    *([name] for name in COMMANDS),
    *(["binaries", name] for name in ("build", "list", "bundle")),
    *(["lab", name] for name in COLLECTIONS),
]


@pytest.mark.parametrize("words", PAGES, ids=lambda words: "-".join(words) or "grader")
def test_each_page_reads_as_it_should(grader: Grader, golden: Golden, words: list[str]) -> None:
    ran = grader(*words, "--help")
    assert (ran.code, ran.err) == (0, "")
    golden(f"cli/help/{'-'.join(words) or 'grader'}.txt", ran.out)
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("words", PAGES, ids=lambda words: "-".join(words) or "grader")
def test_every_word_of_a_page_can_be_translated(
    grader: Grader, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """With a catalog that makes every message Korean letters of the same length: what stays Latin is names."""

    class Korean:
        def gettext(self, message: str) -> str:
            return re.sub(r"[A-Za-z']+(?![^{]*\})", lambda word: "가" * len(word[0]), message)

    monkeypatch.setattr(i18n, "_catalog", lambda _lang: Korean())
    ran = grader("--lang", "ko", *words, "--help")
    assert ran.code == 0
    assert max(map(cell_len, ran.out.splitlines())) <= 80
    names = r"grader|COMMAND|ARGS|OPTIONS|LAB|STEP|SHELL|shell|FILE|PATH|KIND|NAMESPACE|NAME|FOLDER"
    names += r"|SOURCE|REF|DIR|killercoda|katacoda|iximiuz|Killercoda|Katacoda|BATCHLAB_LABS"
    names += r"|PODS?|SELECTOR|TIME|WORDS|ARTICLE|COURSE|N\|ID|N|en\|ko|h|bash\|zsh\|fish"
    names += r"|TEXT|NAMES|LIST|FOLDER|text\|json\|sarif"
    names += r"|batchlab|dark|light|high-contrast|colour-blind"
    options = r"--?[a-z-]+"
    for line in ran.out.splitlines():
        left = re.sub(rf"{options}|\b({names}|{'|'.join([*COMMANDS, *COLLECTIONS, 'build', 'bundle'])})\b", "", line)
        assert not re.search(r"[A-Za-z]", left), line


def test_without_a_word_the_page_goes_to_stderr(grader: Grader) -> None:
    ran = grader()
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == grader("--help").out


def test_the_short_option_works_everywhere(grader: Grader) -> None:
    assert grader("check", "-h").out == grader("check", "--help").out
    assert grader("-h").out == grader("--help").out


def test_the_version_is_said(grader: Grader) -> None:
    ran = grader("--version")
    assert ran.code == 0
    assert re.fullmatch(r"batchlab (checkout|\d+\.\d+\.\d+\S*)\n", ran.out)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_asks_us(grader: Grader, shell: str) -> None:
    ran = grader("completion", shell)
    assert ran.code == 0
    assert f"_GRADER_COMPLETE={shell}_complete" in ran.out


@pytest.mark.parametrize(
    ("words", "number", "found"),
    [
        ("grader ch", 1, ["check"]),
        ("grader st", 1, ["start", "status", "stop"]),
        ("grader check lab-", 2, ["lab-toy"]),
        ("grader check lab-toy --j", 3, ["--json", "--junit"]),
        ("grader completion z", 2, ["zsh"]),
        ("grader binaries b", 2, ["build", "bundle"]),
    ],
)
def test_words_are_completed(
    grader: Grader, monkeypatch: pytest.MonkeyPatch, words: str, number: int, found: list[str]
) -> None:
    monkeypatch.setenv("_GRADER_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(number))
    ran = grader()
    assert ran.code == 0
    assert ran.out.splitlines() == [f"plain,{word}" for word in found]
