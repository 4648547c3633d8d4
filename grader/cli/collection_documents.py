"""What `grader lab list --json` and `grader lab show --json` print.

Owns these two schemas, as `grader.cli.documents` owns those of other commands.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.cli.documents import Moment
from grader.report.json import Count, Model, Text


class CollectionListed(Model):
    """One installed collection."""

    name: Text
    kind: Literal["folder", "git", "archive"] = Field(description="What it was fetched from.")
    source: Text = Field(description="Path or address.")
    ref: Text = Field(description="The branch, tag or commit that was asked for; empty for the repository's HEAD.")
    commit: Text | None = Field(description="The git commit whose files these are, or None.")
    digest: Text = Field(description="SHA-256 over all files: what is accepted.")
    added: Moment
    updated: Moment = Field(description="When these files came.")
    accepted: Moment | None = Field(description="None while it is not.")
    real_nodes: bool = Field(description="Whether labs that run containers as root were accepted, too.")
    folder: Text = Field(description="Where its labs lie.")
    lab_ids: tuple[Text, ...] = Field(description="NAME/LAB.")


class CollectionsDocument(Model):
    """What `grader lab list --json` writes."""

    schema_name: Literal["batchlab/collections/v1"] = Field("batchlab/collections/v1", alias="schema")
    collections: tuple[CollectionListed, ...]


class RunsPart(Model):
    """What of a lab runs on this machine once it is accepted."""

    functions: tuple[Text, ...] = Field(description="Functions of checks.py that checks call.")
    commands: tuple[Text, ...] = Field(description="Commands that checks run, at the learner's place or in pods.")
    scripts: tuple[Text, ...] = Field(description="Scripts of checks: files of scripts/, or their text.")
    setup: tuple[Text, ...] = Field(description="Scripts of start/, which run before the learner arrives.")
    suggested: Count = Field(description="Code blocks that a key types into the learner's shell.")
    solutions: tuple[Text, ...] = Field(description="Scripts that `grader verify` plays.")
    objects: dict[str, Count] = Field(description="Kinds of the objects that a start makes.")
    images: tuple[Text, ...]
    addons: tuple[Text, ...]
    real_nodes: tuple[Text, ...] = Field(description="Nodes that run containers.")


class CollectedLab(Model):
    """One lab of a collection."""

    id: Text
    title: Text | None
    problem: Text | None = Field(description="What is wrong with its files first; then the rest is None.")
    runs: RunsPart | None


class CollectionDocument(CollectionListed):
    """What `grader lab show --json` writes."""

    schema_name: Literal["batchlab/collection/v1"] = Field("batchlab/collection/v1", alias="schema")
    labs: tuple[CollectedLab, ...]
