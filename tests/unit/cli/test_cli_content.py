"""read, course: articles and paths, and what is remembered of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grader.progress.reading import FILE, read_articles
from tests.unit.cli.conftest import CONTENT, Grader
from tests.unit.cli.test_cli_learn import begin
from tests.unit.conftest import Golden

# -- read ---------------------------------------------------------------------------------------------


def test_the_articles_are_listed_with_what_was_read(grader: Grader, golden: Golden) -> None:
    grader("read", "more-pods")
    ran = grader("read")
    assert (ran.code, ran.err) == (0, "")
    golden("cli/read-list.txt", ran.out)


@pytest.mark.parametrize(
    ("words", "name"),
    [(["pods"], "read"), (["pods", "--answers"], "read-answers"), (["pods", "--lang", "ko"], "read-ko")],
)
def test_an_article_laid_out(grader: Grader, golden: Golden, words: list[str], name: str) -> None:
    ran = grader("read", *words)
    assert (ran.code, ran.err) == (0, "")
    golden(f"cli/{name}.txt", ran.out)


def test_what_was_read_is_remembered_and_lists_and_data_are_no_reading(grader: Grader, state_home: Path) -> None:
    grader("read")
    grader("read", "pods", "--json")
    assert not state_home.exists()
    grader("read", "pods")
    first = read_articles(state_home)
    assert list(first) == ["pods"]
    grader("read", "pods")
    assert read_articles(state_home) == first


def test_inside_a_lab_it_is_remembered_in_its_session(grader: Grader, inside: Path) -> None:
    assert grader("read", "pods").code == 0
    assert list(read_articles(inside)) == ["pods"]
    listed = json.loads(grader("read", "--json").out)["articles"]
    assert [(one["id"], one["read"]) for one in listed] == [("pods", True), ("more-pods", False)]


def test_outside_it_is_known_what_was_read_inside(grader: Grader, state_home: Path) -> None:
    home = begin()
    (home / FILE).write_text(json.dumps({"schema": 1, "articles": {"more-pods": 1.0}}))
    assert state_home in home.parents
    listed = json.loads(grader("read", "--json").out)["articles"]
    assert [one["id"] for one in listed if one["read"]] == ["more-pods"]


def test_a_reader_loses_nothing_where_nothing_can_be_remembered(grader: Grader, state_home: Path) -> None:
    state_home.mkdir(parents=True)
    (state_home / FILE).write_text(json.dumps({"schema": 99}))
    ran = grader("read", "pods")
    assert ran.code == 0
    assert ran.out.startswith("A pod: the smallest thing\n")
    assert ran.err.startswith("grader: ")
    assert "was written by a newer Batchlab" in ran.err


def test_an_article_as_data(grader: Grader) -> None:
    document = json.loads(grader("read", "pods", "--json").out)
    sections = document.pop("sections")
    assert document == {
        "schema": "batchlab/article/v1",
        "id": "pods",
        "title": "A pod: the smallest thing",
        "summary": "What a pod is, and why nobody makes one by hand.",
        "minutes": 5,
        "labs": ["lab-toy"],
        "language": "en",
        "questions": [
            {"text": "What is a pod?", "answer": None},
            {"text": "What does `Pending` say?", "answer": None},
            {"text": "Who makes pods?", "answer": None},
        ],
    }
    assert [section["id"] for section in sections] == ["why", "how", "field", "words", "questions", "try"]
    assert sections[5] == {"id": "try", "title": "Try it", "body": "[lab-toy](lab:lab-toy) makes one."}
    answered = json.loads(grader("read", "pods", "--json", "--answers").out)["questions"]
    assert answered[1] == {"text": "What does `Pending` say?", "answer": "That it waits."}


def test_the_list_as_data(grader: Grader) -> None:
    grader("read", "pods")
    assert json.loads(grader("read", "--json").out) == {
        "schema": "batchlab/articles/v1",
        "articles": [
            {
                "id": "pods",
                "title": "A pod: the smallest thing",
                "summary": "What a pod is, and why nobody makes one by hand.",
                "minutes": 5,
                "labs": ["lab-toy"],
                "read": True,
            },
            {
                "id": "more-pods",
                "title": "More pods",
                "summary": "One is not enough.",
                "minutes": 3,
                "labs": [],
                "read": False,
            },
        ],
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pod"], "no article pod (did you mean 'pods'?)\n        articles there are: more-pods, pods\n"),
        (["--answers"], "--answers goes with an article\n        `grader read` lists the articles\n"),
    ],
)
def test_what_can_not_be_read(grader: Grader, words: list[str], said: str) -> None:
    ran = grader("read", *words)
    assert (ran.code, ran.out, ran.err) == (2, "", f"grader: {said}")


def test_an_article_with_mistakes_is_left_out_and_named(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(CONTENT, tmp_path / "content"))
    (folder / "articles" / "pods.md").write_text("---\nformat: 1\n---\n")
    monkeypatch.setattr("grader.content.catalogue.content_dir", lambda: folder)
    ran = grader("read")
    assert (ran.code, ran.out.split()[0]) == (0, "more-pods")
    assert ran.err.startswith(f"grader: pods is left out: {folder}/articles/pods.md:")


# -- course -------------------------------------------------------------------------------------------


def test_courses_and_the_path_of_one(grader: Grader, golden: Golden) -> None:
    begin(passed=1)
    grader("read", "pods")
    listed, shown = grader("course", "list"), grader("course", "show")
    assert [(ran.code, ran.err) for ran in (listed, shown)] == [(0, ""), (0, "")]
    golden("cli/course-list.txt", listed.out)
    golden("cli/course-show.txt", shown.out)
    assert grader("course", "show", "first-steps").out == shown.out


def test_a_course_that_is_done(grader: Grader) -> None:
    begin(passed=2)
    grader("read", "pods")
    grader("read", "more-pods")
    out = grader("course", "show").out
    assert "first-steps · 3 of 3 done · 18 min in all, 0 s to go\n" in out
    assert "next:" not in out


def test_a_path_as_data(grader: Grader) -> None:
    begin(passed=1)
    grader("read", "pods")
    document = json.loads(grader("course", "show", "--json").out)
    path = document.pop("path")
    head = {
        "id": "first-steps",
        "title": "First steps",
        "summary": "From one pod to more.",
        "minutes": 18,
        "progress": {"passed": 1, "total": 3},
    }
    assert document == {"schema": "batchlab/course/v1", **head}
    assert path[1] == {
        "kind": "lab",
        "id": "lab-toy",
        "title": "A first pod",
        "minutes": 10,
        "after": ["pods"],
        "done": False,
        "ready": True,
        "passed": 1,
        "total": 2,
    }
    assert [(stop["kind"], stop["id"], stop["done"], stop["ready"]) for stop in path] == [
        ("article", "pods", True, True),
        ("lab", "lab-toy", False, True),
        ("article", "more-pods", False, False),
    ]
    listed = json.loads(grader("course", "list", "--json").out)
    assert listed == {"schema": "batchlab/courses/v1", "courses": [head]}


def test_titles_are_in_the_language_of_the_reader(grader: Grader) -> None:
    document = json.loads(grader("--lang", "ko", "course", "show", "--json").out)
    assert (document["title"], document["path"][0]["title"]) == ("첫걸음", "파드: 가장 작은 단위")


def test_which_course(grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no course first-step (did you mean 'first-steps'?)" in grader("course", "show", "first-step").err
    folder = Path(shutil.copytree(CONTENT, tmp_path / "content"))
    monkeypatch.setattr("grader.content.catalogue.content_dir", lambda: folder)
    text = (folder / "courses" / "first-steps.yaml").read_text()
    (folder / "courses" / "second.yaml").write_text(text.replace("course: first-steps", "course: second"))
    ran = grader("course", "show")
    assert (ran.code, ran.err) == (
        2,
        "grader: say which course you mean\n        `grader course list` shows the courses\n",
    )
    for path in (folder / "courses").iterdir():
        path.unlink()
    assert grader("course", "list").out == "there are no courses\n"


def test_a_stop_whose_files_are_wrong_is_named_and_never_done(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(CONTENT, tmp_path / "content"))
    (folder / "articles" / "pods.md").write_text("")
    monkeypatch.setattr("grader.content.catalogue.content_dir", lambda: folder)
    ran = grader("course", "show")
    assert ran.code == 0
    assert "  1  -  5 min   pods       pods\n" in ran.out
    assert ran.err.startswith("grader: pods is left out: ")
