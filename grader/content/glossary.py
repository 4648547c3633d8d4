"""From `glossary.yaml` to the terms.

Owns their order and that none stands there twice; whether an article uses one is for lint to say.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.content.matter import GlossaryMatter, words_at
from grader.content.model import Term
from grader.lab.frontmatter import read_versioned, repeated
from grader.lab.problems import LabProblem, read_source
from grader.lab.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.lab.located import Located


def read_glossary(file: Path, found: list[LabProblem]) -> list[Term] | None:
    """The terms in `file`; None where its form is wrong."""
    source = read_source(file, found)
    written = None if source is None else read_versioned(source, found)
    if written is None:
        return None
    matter = validate(GlossaryMatter, written.value, written, found)
    found += _order(written)
    if matter is None:
        return None
    return [Term(term=term.term, en=term.en, ko=term.ko) for term in matter.terms]


def _order(written: Located) -> Iterator[LabProblem]:
    terms = [
        ((*path, "term"), entry["term"])
        for path, entry in words_at(written.value, "terms")
        if isinstance(entry, dict) and isinstance(entry.get("term"), str)
    ]
    yield from repeated(written, terms)
    for (_path, before), (path, term) in pairwise(terms):
        if term.casefold() < before.casefold():
            message = _("'{term}' comes before '{other}' in the alphabet").format(term=term, other=before)
            yield written.problem(path, message)
