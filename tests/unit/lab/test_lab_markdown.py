"""The structure of lab.md: steps, blocks, hints."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.lab.markdown import Outline, front_matter, read_outline
from grader.lab.problems import LabProblem, Source, read_source

MATTER = "---\na: 1\n---\n"


def read(text: str, *, matter: str = MATTER) -> tuple[Outline, list[str]]:
    found: list[LabProblem] = []
    outline = read_outline(Source(Path("f"), matter + text), found)
    return outline, [str(problem) for problem in sorted(found)]


def problems_of(text: str) -> list[str]:
    return read(text)[1]


def test_front_matter_intro_and_steps() -> None:
    outline, found = read("\nWelcome.\n\n### Part\n\n## First one {#one}\n\nDo.\n\n##  Second  {#two-b} ##\nThen.\n")
    assert found == []
    assert outline.matter == "a: 1\n"
    assert outline.intro.body == "Welcome.\n\n### Part"
    assert [(step.id, step.title, step.line, step.body) for step in outline.steps] == [
        ("one", "First one", 9, "Do."),
        ("two-b", "Second", 13, "Then."),
    ]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_nothing_inside_a_code_block_is_structure(fence: str) -> None:
    inside = "---\n## No {#no}\n::: hint\n:::\n# no\n"
    outline, found = read(f"Hi\n\n## One {{#one}}\n\n{fence}text\n{inside}{fence}\n")
    assert found == []
    assert [step.id for step in outline.steps] == ["one"]
    assert outline.steps[0].asides == []
    assert outline.steps[0].blocks[0].text == inside


def test_a_longer_fence_holds_a_shorter_one() -> None:
    outline, found = read("## One {#one}\n\n````markdown\n```yaml check\n- x\n```\n````\n")
    assert found == []
    assert outline.steps[0].checks == []
    assert outline.steps[0].blocks[0].text == "```yaml check\n- x\n```\n"


@pytest.mark.parametrize(
    "prose", ["<!--\n## Old {#old}\n::: hint\n-->", "    ## Code {#code}\n    ::: hint", "> ## Quoted {#quoted}"]
)
def test_comments_indented_code_and_quotes_hold_no_steps(prose: str) -> None:
    outline, found = read(f"## One {{#one}}\n\n{prose}\n\nEnd.\n")
    assert found == []
    assert [step.id for step in outline.steps] == ["one"]
    assert outline.steps[0].body == f"{prose}\n\nEnd."


def test_body_is_the_prose_without_checks_and_hints() -> None:
    text = (
        "## One {#one}\n\nBefore.\n\n```yaml check\n- id: a\n```\n\n::: hint\nA *hint*.\n\nMore of it.\n:::\n\n"
        "Between.\n::: hint\nSecond.\n:::\nAfter.\n\n```text\nx\n\n\ny\n```\n"
    )
    outline, found = read(text)
    assert found == []
    (step,) = outline.steps
    assert step.body == "Before.\n\nBetween.\n\nAfter.\n\n```text\nx\n\n\ny\n```"
    assert [(hint.text, hint.line) for hint in step.asides] == [("A *hint*.\n\nMore of it.", 12), ("Second.", 19)]
    assert [(block.text, block.first_line, block.indent) for block in step.checks] == [("- id: a\n", 9, 0)]


def test_blocks_with_language_flags_and_line() -> None:
    text = "## One {#one}\n```bash run\nls\n```\n\n- list\n\n  ```yaml\n  a: 1\n  ```\n\n"
    text += "::: hint\n```text\nin a hint\n```\n:::\n"
    outline, found = read(text)
    assert found == []
    assert [(b.language, b.flags, b.runs, b.text, b.line) for b in outline.steps[0].blocks] == [
        ("bash", ("run",), True, "ls\n", 5),
        ("yaml", (), False, "a: 1\n", 11),
    ]


def test_where_a_check_block_in_a_list_stands() -> None:
    outline, found = read("## One {#one}\n\n- item\n\n  ```yaml check\n  - id: a\n  ```\n")
    assert found == []
    (block,) = outline.steps[0].checks
    assert (block.text, block.first_line, block.indent) == ("- id: a\n", 9, 2)
    assert outline.steps[0].body == "- item"


def test_blocks_that_name_no_language() -> None:
    assert read("Hi\n\n```\nx\n```\n\n~~~ text\n~~~\n")[0].unnamed == [6]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("## One\n", ["f:4:1: a heading without an id: write '## One {#id}'"]),
        ("Title\n---\n", ["f:4:1: the dashes below make this a heading without an id: put a blank line between"]),
        ("# Title\n", ["f:4:1: the title stands in the front matter: write '##', and '###' for a part"]),
        ("## One {#One}\n", ["f:4:10: id 'One': use lower-case letters, digits and single hyphens"]),
        ("## One {#a--b}\n", ["f:4:10: id 'a--b': use lower-case letters, digits and single hyphens"]),
        ("## {#one}\n", ["f:4:1: a heading without a title"]),
        ("## A {#a}\n::: hint\nx\n", ["f:5:1: this '::: hint' is never closed: end it with a line ':::'"]),
        ("## A {#a}\nx\n:::\n", ["f:6:1: this ':::' closes nothing"]),
        (
            "## A {#a}\n::: hint\nx\n::: hint\ny\n:::\n",
            ["f:7:1: '::: hint' inside that of line 5: close that one with ':::' first"],
        ),
        (
            "## A {#a}\n::: hnit\nx\n:::\n",
            ["f:5:1: unknown block '::: hnit': only '::: hint' is known (did you mean 'hint'?)"],
        ),
        (
            "## A {#a}\n- x\n\n      ::: hint\n  x\n  :::\n",
            [
                "f:9:3: ':::' must stand at the beginning of its line",
                "f:9:3: this ':::' closes nothing",
            ],
        ),
        (
            "## A {#a}\n- x\n\n  ::: hint\n  x\n:::\n",
            ["f:7:3: ':::' must stand at the beginning of its line"],
        ),
        ("## Use `{#x}` {#A}\n", ["f:4:17: id 'A': use lower-case letters, digits and single hyphens"]),
        ("## A {#a}\n::: hint\n\n:::\n", ["f:5:1: nothing stands in this '::: hint'"]),
        ("## A {#a}\n::: hint\n## B {#b}\n:::\n", ["f:6:1: a heading inside '::: hint'"]),
        ("::: hint\nx\n:::\n## A {#a}\n", ["f:4:1: '::: hint' before the first '##' heading"]),
        ("## A {#a}\n```text\nx\n", ["f:5:1: this code block is never closed: end it with ```"]),
        ("## A {#a}\n~~~~text\nx\n~~~\n", ["f:5:1: this code block is never closed: end it with ~~~~"]),
        ("- a\n\n  ```text\n  x\n\nb\n", ["f:6:3: this code block is never closed: end it with ```"]),
        ("## A {#a}\n```yaml run\n```\n", ["f:5:1: 'run' goes with bash blocks only, not with 'yaml'"]),
        ("## A {#a}\n```bash check\n```\n", ["f:5:1: 'check' goes with yaml blocks only, not with 'bash'"]),
        (
            "## A {#a}\n```bash rnu\n```\n",
            ["f:5:1: unknown word 'rnu' after the block's language; allowed: run, check (did you mean 'run'?)"],
        ),
        ("```bash run\n```\n## A {#a}\n", ["f:4:1: a block marked 'run' before the first '##' heading"]),
        ("```yaml check\n```\n## A {#a}\n", ["f:4:1: a block marked 'check' before the first '##' heading"]),
        ("## A {#a}\n::: hint\n```bash run\n```\n:::\n", ["f:6:1: a block marked 'run' can't stand in '::: hint'"]),
        ("## A {#a}\n::: hint\n```yaml check\n```\n:::\n", ["f:6:1: a block marked 'check' can't stand in '::: hint'"]),
        (
            "## A {#a}\n::: hint\n```text\n:::\n",
            [
                "f:5:1: this '::: hint' is never closed: end it with a line ':::'",
                "f:6:1: this code block is never closed: end it with ```",
            ],
        ),
    ],
)
def test_each_refusal_with_its_place(text: str, problems: list[str]) -> None:
    assert problems_of(text) == problems


@pytest.mark.parametrize("text", ["", "Hello\n", "\n---\na: 1\n---\n", "--\n"])
def test_a_file_without_front_matter(text: str) -> None:
    outline, found = read(text, matter="")
    assert outline.matter is None
    assert found[0] == "f:1:1: the file must begin with front matter: a line ---, YAML, a line ---"
    assert front_matter(text) is None


def test_front_matter_that_is_never_closed() -> None:
    outline, found = read("a: 1\n## A {#a}\n", matter="---\n")
    assert outline.matter is None
    assert found == ["f:1:1: this --- opens front matter that no other line --- closes"]


def test_front_matter_alone_is_what_the_outline_has() -> None:
    text = MATTER + "Hi\n\n---\n\nThere\n"
    assert front_matter(text) == read(text, matter="")[0].matter == "a: 1\n"


def test_line_breaks_and_byte_order_mark_of_other_systems(tmp_path: Path) -> None:
    path = tmp_path / "lab.md"
    path.write_bytes(b"\xef\xbb\xbf---\r\na: 1\r\n---\r\nHi\r\n\r\n## One {#one}\r\n\r\n```text\r\nx\r\n```\r\n")
    found: list[LabProblem] = []
    source = read_source(path, found)
    assert source is not None
    outline = read_outline(source, found)
    assert found == []
    assert outline.matter == "a: 1\n"
    assert outline.intro.body == "Hi"
    assert (outline.steps[0].title, outline.steps[0].line, outline.steps[0].blocks[0].text) == ("One", 6, "x\n")
