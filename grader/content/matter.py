"""What authors of content write in YAML: an article's front matter, a course, the glossary.

Owns the models (their fields are the published reference); knows no markdown and no other file.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cluster.i18n import _
from grader.lab.frontmatter import FORMAT, LabId, Title

Slug = LabId
"""Articles and courses are named as labs are."""
Format = Annotated[int, Field(ge=1, le=FORMAT, description="Version of the format: 1.")]
Minutes = Annotated[int, Field(ge=1, le=600)]


class _Matter(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ArticleMatter(_Matter):
    """The front matter of an article, the same keys in every language."""

    format: Format
    article: Slug = Field(description="The article's id, equal to the name of its file.")
    title: Title = Field(description="The title, one line.")
    summary: Title = Field(description="What the reader will know, one line.")
    minutes: Minutes = Field(description="Reading time in minutes.")
    labs: tuple[Slug, ...] = Field(description="Labs that the article prepares for.")


class InEachLanguage(_Matter):
    """One line of text in each language."""

    en: Title
    ko: Title


class ItemMatter(_Matter):
    """One stop on the path: an article or a lab."""

    article: Slug | None = Field(None, description="An article's id.")
    lab: Slug | None = Field(None, description="A lab's id.")
    minutes: Minutes = Field(description="What the article or lab says it takes.")
    after: tuple[Slug, ...] = Field(description="Ids of stops that stand before it and should be done first.")

    @model_validator(mode="after")
    def _one_of_both(self) -> ItemMatter:
        if (self.article is None) == (self.lab is None):
            raise ValueError(_("must have either 'article' or 'lab'"))
        return self

    @property
    def id(self) -> str:
        """Of the article or lab."""
        return self.article or self.lab or ""


class CourseMatter(_Matter):
    """A course, `content/courses/<name>.yaml`."""

    format: Format
    course: Slug = Field(description="The course's id, equal to the name of its file.")
    title: InEachLanguage
    summary: InEachLanguage
    path: tuple[ItemMatter, ...] = Field(min_length=1, description="Articles and labs, in the order to do them.")


class TermMatter(_Matter):
    """One entry of the glossary."""

    term: Title = Field(description="The English term, as the words of articles spell it.")
    en: Title = Field(description="What it means, in English.")
    ko: Title = Field(description="What it means in Korean, begun with the Korean word for it where there is one.")


class GlossaryMatter(_Matter):
    """The glossary, `content/glossary.yaml`."""

    format: Format
    terms: tuple[TermMatter, ...] = Field(min_length=1, description="In alphabetical order.")


def words_at(value: Any, *path: str | int) -> list[tuple[tuple[str | int, ...], Any]]:
    """(path, entry) of each entry of the list at `path` of a value as it was written; none where there is no list."""
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return [((*path, index), entry) for index, entry in enumerate(value)] if isinstance(value, list) else []
