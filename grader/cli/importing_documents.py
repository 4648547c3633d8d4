"""What `grader import --json` prints."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.cli.documents import Mistake
from grader.report.json import Count, Model, Text

Format = Literal["killercoda", "katacoda", "iximiuz"]


class Thing(Model):
    """One thing of the source, and what became of it."""

    file: Text = Field(description="Its path from the source's root.")
    line: Count = Field(description="From 1; 0 for the file as a whole.")
    what: Text
    outcome: Literal["converted", "approximated", "unmapped"]
    into: Text = Field(description="The file of the lab that has it now; empty if unmapped.")
    reason: Text = Field(description="Why it is approximated or unmapped; empty if converted.")


class LabImported(Model):
    """One lab that was made."""

    lab: Text
    title: Text
    format: Format
    source: Text = Field(description="The file it was made of, from the source's root.")
    folder: Text
    written: bool
    problem: Text = Field(description="Why it was not written; empty if it was.")
    kept: Text = Field(description="Where the folder that stood there is now; empty if there was none.")
    things: tuple[Thing, ...]
    lint: tuple[Mistake, ...] = Field(description="Mistakes in the lab as it was written.")


class Unreadable(Model):
    """A scenario or challenge that could not be read."""

    file: Text
    line: Count
    column: Count
    message: Text


class ImportDocument(Model):
    """What `grader import --json` writes."""

    schema_name: Literal["batchlab/import/v1"] = Field("batchlab/import/v1", alias="schema")
    source: Text
    labs: tuple[LabImported, ...]
    unreadable: tuple[Unreadable, ...]
    things: tuple[Thing, ...] = Field(description="Things that belong to no one lab, such as the order of a course.")
