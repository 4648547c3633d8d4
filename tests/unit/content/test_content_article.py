"""What is read of an article, in each language, and from the catalogue."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.errors import UsageProblem
from grader.content import catalogue
from grader.content.article import parse_article
from grader.content.model import SECTIONS


def test_an_article_has_all_that_was_written(content: Path) -> None:
    article, problems = parse_article(content / "articles", "pods")
    assert problems == []
    assert article is not None
    assert (article.id, article.title, article.minutes) == ("pods", "A pod: the smallest thing", 5)
    assert article.summary == "What a pod is, and why nobody makes one by hand."
    assert (article.labs, article.language, article.file.name) == (("lab-toy",), "en", "pods.md")
    assert tuple(section.id for section in article.sections) == SECTIONS
    assert article.section("why").title == "Why it was needed"
    assert article.section("why").body.startswith("Containers that belong together must be *placed* together.")
    assert (article.section("try").line, article.section("try").body) == (83, "[lab-toy](lab:lab-toy) makes one.")
    assert [(question.text, question.line) for question in article.questions] == [
        ("What is a pod?", 63),
        ("What does `Pending` say?", 71),
        ("Who makes pods?", 77),
    ]
    assert article.questions[0].answer == "Containers in **one** place.\n\nNothing more."
    assert "Controllers." not in article.section("questions").body
    assert [(block.language, block.flags, block.line) for block in article.blocks] == [
        ("yaml", (), 18),
        ("yaml", ("fragment",), 31),
        ("yaml", ("not-installed",), 38),
        ("text", (), 50),
    ]
    with pytest.raises(KeyError):
        article.section("nowhere")


def test_an_article_in_korean_and_in_a_language_it_lacks(content: Path) -> None:
    korean = catalogue.load_article("pods", "ko")
    assert (korean.language, korean.title, korean.questions[2].answer) == (
        "ko",
        "파드: 가장 작은 단위",
        "컨트롤러입니다.",
    )
    (content / "articles" / "pods.ko.md").unlink()
    assert catalogue.load_article("pods", "ko").language == "en"


def test_articles_stand_in_the_order_of_the_courses(content: Path) -> None:
    assert catalogue.article_ids() == ["pods", "more-pods"]
    (content / "courses" / "first-steps.yaml").write_text("")
    assert catalogue.article_ids() == ["more-pods", "pods"]


def test_an_article_that_is_not_there(content: Path) -> None:
    with pytest.raises(UsageProblem) as refusal:
        catalogue.load_article("pod")
    assert refusal.value.message == "no article pod (did you mean 'pods'?)"
    assert refusal.value.advice == "articles there are: more-pods, pods"


def test_an_article_with_mistakes_is_refused_with_all_of_them(content: Path) -> None:
    file = content / "articles" / "pods.md"
    file.write_text(file.read_text().replace("minutes: 5", "minutes: x").replace("{#try}", "{#tyr}"))
    with pytest.raises(UsageProblem) as refusal:
        catalogue.load_article("pods")
    assert refusal.value.message.split("\n") == [
        f"{file}:1:1: section 'try' is missing",
        f"{file}:6:10: minutes: must be a whole number, not 'x'",
        f"{file}:83:1: no section 'tyr'; an article has: why, how, field, words, questions, try (did you mean 'try'?)",
    ]


def test_a_course_has_all_that_was_written(content: Path) -> None:
    course = catalogue.load_course("first-steps")
    assert (course.id, course.title, course.minutes) == ("first-steps", {"en": "First steps", "ko": "첫걸음"}, 18)
    assert [(item.kind, item.id, item.minutes, item.after) for item in course.path] == [
        ("article", "pods", 5, ()),
        ("lab", "lab-toy", 10, ("pods",)),
        ("article", "more-pods", 3, ("lab-toy",)),
    ]


def test_a_course_that_is_not_there_or_wrong(content: Path) -> None:
    with pytest.raises(UsageProblem, match=r"no course first-step \(did you mean 'first-steps'\?\)"):
        catalogue.load_course("first-step")
    (content / "courses" / "first-steps.yaml").write_text("format: 1\ncourse: first-steps\n")
    with pytest.raises(UsageProblem, match=r"first-steps.yaml:1:1: missing key 'path'"):
        catalogue.load_course("first-steps")


def test_the_glossary(content: Path) -> None:
    assert next((term.term, term.ko) for term in catalogue.glossary()) == ("Job", "끝나야 하는 파드들")
    (content / "glossary.yaml").write_text("format: 1\nterms: []\n")
    with pytest.raises(UsageProblem, match="terms: must have at least 1 entries"):
        catalogue.glossary()
