"""Every defect of articles, courses and glossary is told with its place, and nothing else is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.content.catalogue import content_dir
from grader.content.lint import lint_content
from tests.unit.content.conftest import Spoil

EN, KO = "articles/pods.md", "articles/pods.ko.md"
COURSE, GLOSSARY = "courses/first-steps.yaml", "glossary.yaml"
HELLO = "    - name: main\n      image: busybox:stable\n"


def test_nothing_is_wrong_with_the_example(content: Path) -> None:
    assert lint_content(content) == []


def test_nothing_is_wrong_with_what_we_ship() -> None:
    assert lint_content(content_dir()) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("article: pods\n", "article: pod\n", "3:10: article 'pod' is not the name of its file, 'pods'"),
        ("minutes: 5\n", "minutes: 0\n", "6:10: minutes: must be 1 or more"),
        ("minutes: 5\n", "minuts: 5\n", "6:1: unknown key 'minuts'; allowed: "),
        ("summary: What a pod is, and why nobody makes one by hand.\n", "", "2:1: missing key 'summary'"),
        ("format: 1\n", "format: 2\n", "2:9: format 2 is newer than this version knows (1): upgrade batchlab"),
        ("[lab-toy]\n", "[lab-toy, lab-toy]\n", "7:17: 'lab-toy' again (first on line 7)"),
        ("[lab-toy]\n", "[lab-tyo]\n", "7:8: no lab 'lab-tyo'; allowed: lab-toy (did you mean 'lab-toy'?)"),
        ("## Why it", "Hello.\n\n## Why it", "9:1: text before the first section"),
        (
            "{#field}",
            "{#feild}",
            "45:1: no section 'feild'; an article has: why, how, field, words, questions, try (did",
        ),
        ("{#field}", "{#feild}", "1:1: section 'field' is missing"),
        ("{#try}", "{#why}", "83:1: section 'why' again (first on line 10)"),
        ("[lab-toy](lab:lab-toy) makes one.\n", "", "83:1: section 'try' is empty"),
        ("[lab-toy](lab:lab-toy) makes one.\n", "Try.\n", "83:1: no link to lab 'lab-toy' of the front matter"),
        ("::: answer\nControllers.\n:::\n", "", "77:1: a question without an answer"),
        ("::: answer\nControllers.\n:::\n\n## ", "## ", "77:1: a question without an answer"),
        ("### Who makes pods?", "Who makes pods?", "77:1: only questions ('### …') and their answers ('::: answer')"),
        ("### Who makes pods?", "Who makes pods?", "61:1: 2 questions; an article asks 3"),
        ("### Who makes pods?", "Who makes pods?", "79:1: a second answer to the question of line 71"),
        ("### What is a pod?", "", "65:1: an answer before its question"),
        ("A part of it:", "::: answer\nNo.\n:::", "29:1: an answer outside the section 'questions'"),
        ("That it waits.", "```text\nx\n```", "74:1: an answer is prose: no headings, tables or code blocks"),
        ("That it waits.", "#### x", "74:1: an answer is prose: no headings, tables or code blocks"),
        ("::: answer\nControllers.\n:::", "::: anser\nControllers.\n:::", "79:1: unknown block '::: anser'"),
        ("```yaml fragment", "```yaml fragmnt", "31:1: unknown word 'fragmnt' after the block's language; allowed: "),
        ("```text", "```text fragment", "50:1: 'fragment' goes with yaml blocks only, not with 'text'"),
        ("```yaml fragment", "```yaml fragment not-installed", "31:1: one word after the block's language is enough"),
        ("```text", "```", "50:1: a code block without a language"),
        ("  name: hello\nspec:", "  name: [hello\nspec:", "23:5: not YAML: "),
        ("kind: Pod\n", "", "19:1: missing key 'kind'"),
        ("  name: hello\nspec:", "  name: hello\n  namespace: x\nspec:", "23:3: leave the namespace out"),
        ("busybox:stable", "nginx:1", "26:14: clusters have no image 'nginx:1'; use busybox:stable"),
        (
            "```yaml fragment",
            "```yaml\n# nothing\n```\n\n```yaml fragment",
            "31:1: no object in this block: a part of one",
        ),
        ("restartPolicy: Never", "restartPolicy: [", "34:1: not YAML: "),
        (HELLO, f"{HELLO}      workingDir: /{'x' * 60}\n", "27:77: a line of code 79 columns wide; at most 76"),
        ("0/1 nodes", "\t0/1 nodes", "51:1: a tab: indent with spaces"),
        ("| node | where", f"| node | {'나' * 36} where", "56:1: a table 94 columns wide; at most 76"),
        ("| node | where", "| nodes | where", "59:1: 'nodes' is not in the glossary (did you mean 'node'?)"),
        ("| node | where", "| pod | where", "59:1: 'pod' again (first on line 58)"),
        ("| term | meaning |\n|---|---|", "| a | b | c |\n|---|---|---|", "54:1: this section holds one table of two"),
        ("[More pods](article:more-pods)", "[More](article:more-pds)", "12:71: no article 'more-pds' (did you mean"),
        ("(lab:lab-toy)", "(lab:lab-tyo)", "85:11: lab 'lab-tyo' is not in the front matter (did you mean 'lab-toy'?)"),
        (
            "https://kubernetes.io/docs/",
            "http://a.example",
            "48:54: a link to 'http://a.example': write lab:ID, article:",
        ),
        ("`<name>`", "<name>", "48:24: raw HTML, which a terminal does not show: put <name> in backquotes"),
        ("A part of it:", "<b>A part</b>", "29:1: raw HTML, which a terminal does not show: put <b> in backquotes"),
        ("A part of it:", "<!-- A part -->", "29:1: raw HTML, which a terminal does not show"),
        ("A part of it:", "![a](https://a.example/a.png)", "29:1: a picture: a terminal shows none"),
        ("A part of it:", "A part\nof it:", "30:1: a paragraph goes on here: write each on one line"),
        ("## Why it was needed {#why}", "## Why it was needed", "10:1: a heading without an id"),
        ("### One object", "# One object", "16:1: the title stands in the front matter"),
    ],
)
def test_a_defect_of_an_article(spoil: Spoil, old: str, new: str, problem: str) -> None:
    found = spoil(EN, old, new)
    assert any(one.startswith(f"{EN}:{problem}") for one in found), found


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("minutes: 5\n", "minutes: 6\n", "6:10: minutes: not what the English article says"),
        ("labs: [lab-toy]", "labs: []", "7:7: labs: not what the English article says"),
        ("{#field}", "{#feild}", "1:1: section 'field' is missing"),
        (
            "  name: hello\nspec:",
            "  name: bye\nspec:",
            "18:1: not the code block of the English article (line 18 there)",
        ),
        ("```yaml fragment", "```yaml", "31:1: not the code block of the English article (line 31 there)"),
        ("```text\n0/1 nodes are available\n```\n", "", "45:1: code blocks in this section: 0 here, 1 in the English"),
        ("::: answer\n컨트롤러입니다.\n:::\n", "", "77:1: a question without an answer"),
    ],
)
def test_a_translation_that_differs(spoil: Spoil, old: str, new: str, problem: str) -> None:
    found = spoil(KO, old, new)
    assert any(one.startswith(f"{KO}:{problem}") for one in found), found
    assert [one for one in found if not one.startswith(KO)] == []


def test_comments_and_quoted_output_may_be_translated(spoil: Spoil) -> None:
    assert spoil(KO, "0/1 nodes are available", "노드가 없습니다") == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "course: first-steps",
            "course: last-steps",
            "2:9: course 'last-steps' is not the name of its file, 'first-steps'",
        ),
        ("title: {en: First steps, ko: 첫걸음}", "title: {en: First steps}", "3:8: title: missing key 'ko'"),
        ("{article: pods,", "{article: podz,", "6:15: no article 'podz' (did you mean 'pods'?)"),
        ("{lab: lab-toy,", "{lab: lab-toi,", "7:11: no lab 'lab-toi' (did you mean 'lab-toy'?)"),
        ("minutes: 5,", "minutes: 6,", "6:30: pods takes 5 minutes"),
        ("minutes: 10,", "minutes: 20,", "7:29: lab-toy takes 10 minutes"),
        ("after: [pods]", "after: [more-pods]", "7:41: 'more-pods' does not stand before this stop"),
        ("after: [pods]", "after: [lab-toy]", "7:41: 'lab-toy' does not stand before this stop"),
        ("after: [pods]", "after: [podz]", "7:41: no stop 'podz' on this path (did you mean 'pods'?)"),
        ("after: [pods]", "after: [pods, pods]", "7:47: 'pods' again (first on line 7)"),
        ("{article: more-pods,", "{article: pods,", "8:15: 'pods' again (first on line 6)"),
        ("{lab: lab-toy, ", "{article: pods, lab: lab-toy, ", "7:5: path[1]: must have either 'article' or 'lab'"),
        ("{lab: lab-toy, ", "{", "7:5: path[1]: must have either 'article' or 'lab'"),
    ],
)
def test_a_defect_of_a_course(spoil: Spoil, old: str, new: str, problem: str) -> None:
    found = spoil(COURSE, old, new)
    assert any(one.startswith(f"{COURSE}:{problem}") for one in found), found


def test_a_lab_stands_behind_those_it_comes_after(
    spoil: Spoil, content: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labs = tmp_path / "labs"
    example = Path(__file__).parents[1] / "lab" / "example" / "lab-hello"
    for name, after in (("lab-hello", ""), ("lab-toy", "after: [lab-hello]\n")):
        folder = Path(shutil.copytree(example, labs / name))
        text = (folder / "lab.md").read_text().replace("lab: lab-hello\n", f"lab: {name}\n{after}")
        (folder / "lab.md").write_text(text)
    monkeypatch.setattr("grader.lab.catalogue.labs_dir", lambda: labs)
    hello = "  - {lab: lab-hello, minutes: 10, after: []}\n"
    path = "  - {article: pods, minutes: 5, after: []}\n"
    problem = f"{COURSE}:7:11: lab-toy comes after lab-hello, which does not stand before it on this path"
    assert problem in spoil(COURSE, path, path)
    assert [one for one in spoil(COURSE, path, hello + path) if "comes after" in one] == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("term: Job", "term: zone", "4:12: 'node' comes before 'zone' in the alphabet"),
        ("term: node", "term: pod", "5:12: 'pod' again (first on line 4)"),
        ("en: A machine that runs pods, ", "", "4:5: terms[1]: missing key 'en'"),
    ],
)
def test_a_defect_of_the_glossary(spoil: Spoil, old: str, new: str, problem: str) -> None:
    found = spoil(GLOSSARY, old, new)
    assert any(one.startswith(f"{GLOSSARY}:{problem}") for one in found), found


def test_files_that_are_missing_or_read_by_nobody(content: Path) -> None:
    (content / KO).unlink()
    (content / GLOSSARY).rename(content / "glossary.yml")
    (content / "articles" / "notes.txt").write_text("")
    found = [str(problem).removeprefix(f"{content}/") for problem in lint_content(content)]
    assert found == [
        "articles/notes.txt:1:1: nothing reads 'notes.txt' here; known: *.md",
        f"{KO}:1:1: is missing",
        "glossary.yaml:1:1: is missing",
        (
            "glossary.yml:1:1: nothing reads 'glossary.yml' here; known: articles, courses, glossary.yaml "
            "(did you mean 'glossary.yaml'?)"
        ),
    ]
