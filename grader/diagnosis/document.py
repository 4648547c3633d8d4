"""A diagnosis as one JSON document, schema `batchlab/why/v1`.

Owns that schema: the models below are what is written, `docs/schemas/why-v1.json` is made from them, and
`docs/json.md` says it in words. A key may be added within v1; one that changes or goes makes a v2.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.diagnosis.model import Fault
from grader.report.json import Model, Text


class LinkPart(Model):
    """One object that was looked at."""

    object: Text
    says: Text = Field(description="What it says of the matter; messages of the cluster as they are.")


class CausePart(Model):
    """A well-known cause."""

    id: Text = Field(description="Stable; docs/learner.md lists them.")
    says: Text = Field(description="What is the matter, in `language`.")
    where: tuple[Text, ...] = Field(description="The objects it is read from.")
    look_at: Text = Field(description="A command that shows it.")
    fault: Fault = Field(description="Whose it is; nobody's where it only has to wait.")


class WhyDocument(Model):
    """What `grader why --json` writes."""

    schema_name: Literal["batchlab/why/v1"] = Field("batchlab/why/v1", alias="schema")
    lab: Text
    language: Literal["en", "ko"] = Field(description="Of the sentences.")
    of: Text = Field(description="The object asked about.")
    state: Text = Field(description="How it is.")
    healthy: bool = Field(description="Whether it is as it should be, as far as can be told.")
    chain: tuple[LinkPart, ...] = Field(description="From what decides to what is decided.")
    cause: CausePart | None = Field(description="None: nothing is wrong, or it is nothing well-known.")
