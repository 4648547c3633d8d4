"""What `--json` prints of articles and courses.

Owns these schemas, as `grader.cli.documents` owns those of labs.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.cli.documents import Progress
from grader.report.json import Count, Model, Text


class ArticleHead(Model):
    """An article without its text."""

    id: Text
    title: Text
    summary: Text
    minutes: Count = Field(description="What it takes to read.")
    labs: tuple[Text, ...] = Field(description="Labs it prepares for.")


class ArticleListed(ArticleHead):
    """One article, and whether it was read."""

    read: bool = Field(description="Whether `grader read` ever showed it.")


class ArticlesDocument(Model):
    """What `grader read --json` writes."""

    schema_name: Literal["batchlab/articles/v1"] = Field("batchlab/articles/v1", alias="schema")
    articles: tuple[ArticleListed, ...] = Field(description="In the order of the courses.")


class SectionShown(Model):
    """One section of an article."""

    id: Literal["why", "how", "field", "words", "questions", "try"]
    title: Text
    body: Text = Field(description="Markdown, without answers.")


class QuestionShown(Model):
    """One question for self-check."""

    text: Text = Field(description="Markdown.")
    answer: Text | None = Field(description="Markdown; None without `--answers`.")


class ArticleDocument(ArticleHead):
    """What `grader read ARTICLE --json` writes."""

    schema_name: Literal["batchlab/article/v1"] = Field("batchlab/article/v1", alias="schema")
    language: Literal["en", "ko"] = Field(description="Of the article's text.")
    sections: tuple[SectionShown, ...]
    questions: tuple[QuestionShown, ...]


class CourseHead(Model):
    """A course without its path."""

    id: Text
    title: Text
    summary: Text
    minutes: Count = Field(description="What the whole path takes.")
    progress: Progress = Field(description="Stops that are done.")


class CoursesDocument(Model):
    """What `grader course list --json` writes."""

    schema_name: Literal["batchlab/courses/v1"] = Field("batchlab/courses/v1", alias="schema")
    courses: tuple[CourseHead, ...]


class Stop(Model):
    """One article or lab on a course's path."""

    kind: Literal["article", "lab"]
    id: Text
    title: Text
    minutes: Count
    after: tuple[Text, ...] = Field(description="Stops that should be done first.")
    done: bool
    ready: bool = Field(description="Whether all stops of `after` are done.")
    passed: Count = Field(description="Steps of a lab that ever passed; 1 for an article that was read.")
    total: Count = Field(description="Steps of a lab; 1 for an article, 0 where its file can't be read.")


class CourseDocument(CourseHead):
    """What `grader course show --json` writes."""

    schema_name: Literal["batchlab/course/v1"] = Field("batchlab/course/v1", alias="schema")
    path: tuple[Stop, ...] = Field(description="In the order to do them.")
