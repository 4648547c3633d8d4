"""Markdown on a terminal: labs in both languages fit, no word of them is broken, and code can be copied."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len

from grader.cli.show import _head, _texts
from grader.lab.catalogue import lab_ids, load_lab
from grader.report.page import draw

ANSI = re.compile(r"\x1b\[[0-9;]*m")
LONG = 'kubectl get job first -o jsonpath=\'{.spec.suspend}{"\\n"}{.spec.template.spec.nodeSelector}{"\\n"}\''


def texts(lab_id: str, lang: str) -> str:
    lab = load_lab(lab_id, lang)
    assert lab.language == lang
    return f"{_head(lab)}\n\n{_texts(lab, list(lab.steps), whole=False)}"


def lines_of_code(markdown: str) -> list[str]:
    fences = (token for token in MarkdownIt().parse(markdown) if token.type == "fence")
    return [line for token in fences for line in token.content.rstrip().split("\n")]


def words(markdown: str) -> Iterator[str]:
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        if token.type == "inline":
            yield from "".join(" " if one.type == "softbreak" else one.content for one in token.children or []).split()


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("lab_id", lab_ids())
def test_a_lab_fits_and_its_code_stands_whole(lab_id: str, lang: str, colour: bool) -> None:
    markdown = texts(lab_id, lang)
    drawn = [
        ANSI.sub("", line).rstrip() for line in draw(markdown, width=80, colour=colour, whole_code=True).split("\n")
    ]
    prose = []
    code = iter(lines_of_code(markdown))
    line_of_code = next(code)
    for line in drawn:
        # At least two cells in, and further in a list.
        if re.fullmatch(f"  +{re.escape(line_of_code)}" if line_of_code else "", line):
            line_of_code = next(code, "(no more)")
        else:
            prose.append(line)
    assert line_of_code == "(no more)"
    assert [line for line in prose if cell_len(line) > 80] == []
    drawn_words = {word for line in prose for word in line.split() if word.strip("─═▌•")}
    numbers = set(map(str, range(1, 20)))
    assert drawn_words - set(words(markdown)) - numbers == set()


def test_lines_of_code_are_broken_only_where_they_need_not_be_copied() -> None:
    markdown = f"before\n\n```bash\n{LONG}\n\necho\n```\n\nafter\n"
    whole = draw(markdown, width=80, colour=False, whole_code=True)
    assert whole == f"before\n\n  {LONG}\n\n  echo\n\nafter\n"
    broken = draw(markdown, width=80, colour=False)
    assert LONG not in broken
    assert max(map(cell_len, broken.split("\n"))) <= 80


def test_code_in_a_list_stays_whole_too() -> None:
    markdown = f"1. do this\n\n   ```bash\n   {LONG}\n   ```\n\n2. then that\n"
    assert LONG in draw(markdown, width=80, colour=False, whole_code=True)
