"""From the files of a lab's folder to a `Lab`: the main flow of reading one.

Owns the order of reading and what the parts must say of each other; all faults are told in one run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from cluster.spec import ClusterSpec, NodeSpec
from grader.lab.checkblock import CheckDraft, across, read_checks
from grader.lab.frontmatter import FrontMatter, read_front_matter
from grader.lab.manifests import in_namespace, read_start, setup_scripts
from grader.lab.markdown import Outline, Section, read_outline
from grader.lab.model import Lab, Step
from grader.lab.overlay import read_translation, translated, translation_file
from grader.lab.problems import LabProblem, read_source, under
from grader.lab.session_text import declared_in, filled_section, filler_of, wrong_matter, wrong_prose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from grader.lab.filling import Filler
    from grader.lab.located import Located
    from grader.lab.values import Value

LAB_FILE = "lab.md"


@dataclass(frozen=True, slots=True)
class Reading:
    """`lab.md` and `start/` as far as they could be read; what is wrong with them has been told."""

    folder: Path
    outline: Outline
    matter: FrontMatter | None
    """None where anything in it is wrong."""
    written: Located | None
    """The front matter as it was written: a mapping, or None."""
    steps: list[tuple[Section, list[CheckDraft]]]
    start: list[Located]
    """The objects of `start/`, each with its place."""
    filler: Filler | None = None
    """What fills values in; None in a lab that declares none."""
    examples: frozenset[str] = frozenset()
    """The names of values that nobody has drawn."""

    def filled(self, section: Section) -> Section:
        """A section of `lab.md` or of a translation with the values in it."""
        return section if self.filler is None else filled_section(section, self.filler, self.examples)

    def addons(self) -> tuple[str, ...] | None:
        """The add-ons as far as the front matter can be read; None where it does not say."""
        if self.matter is not None:
            return self.matter.cluster.addons
        cluster = self._said().get("cluster")
        if not isinstance(cluster, dict):
            return None
        addons = cluster.get("addons", [])
        return tuple(filter(_is_text, addons)) if isinstance(addons, list) else None

    def namespace(self) -> str:
        """The lab's namespace, as `addons`; empty where it is not said."""
        named = self._said().get("namespace")
        return named if isinstance(named, str) else ""

    def _said(self) -> dict[str, Any]:
        value = None if self.written is None else self.written.value
        return value if isinstance(value, dict) else {}

    def check_ids(self) -> dict[str, list[str]]:
        """The ids of the checks by the id of their step, as far as there are ids."""
        ids: dict[str, list[str]] = {}
        for section, drafts in self.steps:
            if section.id:
                ids.setdefault(section.id, []).extend(draft.id for draft in drafts if draft.id)
        return ids


def parse_lab(
    folder: Path, lang: str = "en", values: Mapping[str, Value] | None = None
) -> tuple[Lab | None, list[LabProblem]]:
    """The lab in `folder`, in `lang` where it has that language, else in English.

    `values` are a session's; those that the lab declares and that are missing there, or can't be any more, are
    examples. None where anything is wrong, and then all that is wrong, sorted by file and place.
    """
    found: list[LabProblem] = []
    reading = read_lab(folder, found, values)
    if reading is None:
        return None, found
    translation = None
    if lang != "en" and translation_file(folder, lang).exists():
        translation = read_translation(folder, lang, reading.check_ids(), found, reading.filler)
        if translation is not None and reading.filler is not None:
            found += wrong_prose(translation.outline, reading.filler)
    if found:
        return None, sorted(set(found))
    lab = build(reading)
    if translation is not None:
        lab = translated(lab, translation, lang, reading.filled)
    return lab, []


def read_lab(folder: Path, found: list[LabProblem], values: Mapping[str, Value] | None = None) -> Reading | None:
    """`lab.md` and `start/`, with `values` in them; None where `lab.md` can't be read at all."""
    with under("unreadable", found):
        source = read_source(folder / LAB_FILE, found)
    if source is None:
        return None
    with under("markdown", found):
        outline = read_outline(source, found)
        if outline.matter is not None:
            found += _steps(outline)
    matter, written = None, None
    if outline.matter is not None:
        with under("front-matter", found):
            matter, written = read_front_matter(source, outline.matter, folder.resolve().name, found)
    filler, examples = filler_of(declared_in(written), values)
    if filler is not None:
        with under("prose", found):
            found += wrong_prose(outline, filler)
        with under("front-matter", found):
            found += wrong_matter(written) if written is not None else ()
    with under("check-block", found):
        for block in outline.intro.checks:
            read_checks(block, source, found, filler)  # it stands in the wrong place, and may be wrong in itself
        steps = [
            (section, [draft for block in section.checks for draft in read_checks(block, source, found, filler)])
            for section in outline.steps
        ]
        found += across([draft for _section, drafts in steps for draft in drafts])
    with under("start-object", found):
        start = read_start(folder, found, filler)
    return Reading(folder, outline, matter, written, steps, start, filler, examples)


def _steps(outline: Outline) -> Iterator[LabProblem]:
    if not outline.steps:
        yield outline.source.problem(1, 1, _("no step: a lab needs at least one '## Title {#id}'"))
    first: dict[str, int] = {}
    for section in outline.steps:
        if section.id in first:
            message = _("step id '{id}' again (first on line {line})")
            yield outline.source.problem(section.line, 1, message.format(id=section.id, line=first[section.id]))
        elif section.id:
            first[section.id] = section.line
        hints: dict[str, int] = {}
        for hint in section.asides:
            if hint.text and hint.text in hints:
                message = _("the same hint again (first on line {line})").format(line=hints[hint.text])
                yield outline.source.problem(hint.line, 1, message)
            hints.setdefault(hint.text, hint.line)


def build(reading: Reading) -> Lab:
    """The lab of a reading in which nothing is wrong."""
    matter = reading.matter
    assert matter is not None
    nodes = tuple(
        NodeSpec(name=node.name, real=node.real, gpus=node.gpus, labels=dict(node.labels), taint=node.taint)
        for node in matter.cluster.nodes
    )
    manifests = in_namespace((located.value for located in reading.start), matter.namespace)
    return Lab(
        id=matter.lab,
        title=matter.title,
        minutes=matter.minutes,
        after=matter.after,
        workdir=matter.workdir,
        namespace=matter.namespace,
        cluster=ClusterSpec(addons=matter.cluster.addons, nodes=nodes, manifests=manifests),
        intro=reading.filled(reading.outline.intro).body,
        steps=tuple(
            _step(number, reading.filled(section), drafts)
            for number, (section, drafts) in enumerate(reading.steps, start=1)
        ),
        folder=reading.folder,
        setup=setup_scripts(reading.folder),
        language="en",
        declared=matter.values,
        values={} if reading.filler is None else dict(reading.filler.values),
        examples=reading.examples,
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _step(number: int, section: Section, drafts: list[CheckDraft]) -> Step:
    return Step(
        number=number,
        id=section.id,
        title=section.title,
        body=section.body,
        blocks=tuple(section.blocks),
        checks=tuple(draft.check for draft in drafts if draft.check is not None),
        hints=tuple(section.asides),
        line=section.line,
    )
