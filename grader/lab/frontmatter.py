"""The front matter of `lab.md` and `lab.<language>.md`: its keys, their values, and what must fit together.

Owns the models (their fields are the published reference) and the rules across keys; knows no markdown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from cluster.i18n import LANGUAGES, _
from cluster.spec import ADDON_NEEDS, ADDONS, NEVER_TOGETHER
from grader.lab.located import Located, read_document
from grader.lab.markdown import ID
from grader.lab.problems import LabProblem, Source, unknown
from grader.lab.validate import Model, validate
from grader.lab.values import MOST, ValueMatter, ValueName

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.lab.located import Path

FORMAT = 1
"""The newest lab format this version reads."""

_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_NAMESPACE = re.compile(_LABEL + r"\Z")
_NODE = re.compile(rf"{_LABEL}(\.{_LABEL})*\Z")
_WORKDIR = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}\Z")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?\Z")
_LABEL_KEY = re.compile(rf"({_LABEL}(\.{_LABEL})*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?\Z")


def _lab_id(text: str) -> str:
    if not ID.match(text) or len(text) > 63:
        raise ValueError(_("use lower-case letters, digits and single hyphens, at most 63"))
    return text


def _title(text: str) -> str:
    if not text.strip() or "\n" in text.strip():
        raise ValueError(_("must be one line of text"))
    return text.strip()


def _workdir(text: str) -> str:
    if not _WORKDIR.match(text):
        raise ValueError(_("must be a plain folder name: letters, digits, '.', '_', '-', no '/'"))
    return text


def _namespace(text: str) -> str:
    if not _NAMESPACE.match(text):
        message = _("'{text}' is no DNS-1123 label: lower-case letters, digits and inner hyphens, at most 63")
        raise ValueError(message.format(text=text))
    return text


def _node_name(text: str) -> str:
    if not _NODE.match(text) or len(text) > 253:
        message = _("'{text}' is no DNS-1123 name: lower-case letters, digits, '-' and '.'")
        raise ValueError(message.format(text=text))
    return text


def _addon(text: str) -> str:
    if text not in ADDONS:
        raise ValueError(unknown(_("unknown add-on '{word}'"), text, ADDONS))
    return text


def _labels(labels: dict[str, str]) -> dict[str, str]:
    for key, value in labels.items():
        if not _LABEL_KEY.match(key):
            raise ValueError(_("'{key}' is no label key").format(key=key))
        if not _LABEL_VALUE.match(value):
            raise ValueError(_("'{value}' is no label value").format(value=value))
    return labels


def _pattern(pattern: re.Pattern[str]) -> Any:
    return Field(json_schema_extra={"pattern": "^" + pattern.pattern.replace(r"\Z", "$")})


def _language(text: str) -> str:
    if text not in LANGUAGES:
        raise ValueError(unknown(_("unknown language '{word}'"), text, LANGUAGES))
    return text


def _with_english(languages: tuple[str, ...]) -> tuple[str, ...]:
    if "en" not in languages:
        raise ValueError(_("lab.md is its text in 'en': name that, too"))
    return languages


LabId = Annotated[str, AfterValidator(_lab_id), _pattern(ID)]
Title = Annotated[str, AfterValidator(_title), Field(json_schema_extra={"minLength": 1})]


class _Matter(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NodeMatter(_Matter):
    """A node. The one `real` node runs containers (and needs root); all others are played by KWOK."""

    name: Annotated[str, AfterValidator(_node_name), _pattern(_NODE)] = Field(description="Node name.")
    real: bool = Field(False, description="Runs containers; at most one node of a lab may.")
    gpus: int = Field(0, ge=0, le=64, description="How many `nvidia.com/gpu` it has.")
    labels: Annotated[dict[str, str], AfterValidator(_labels)] = Field(
        default={}, description="Labels beside those every node has."
    )
    taint: bool = Field(True, description="Whether pods need a toleration for a node that is not real.")


class ClusterMatter(_Matter):
    """What the lab's cluster is made of."""

    addons: tuple[Annotated[str, AfterValidator(_addon), Field(json_schema_extra={"enum": list(ADDONS)})], ...] = Field(
        (), description="Controllers that are installed, with their CRDs and webhooks."
    )
    nodes: tuple[NodeMatter, ...] = Field(min_length=1, max_length=200, description="The nodes, at least one.")


class FrontMatter(_Matter):
    """The front matter of `lab.md`."""

    format: int = Field(ge=1, le=FORMAT, description="Version of the lab format: 1.")
    lab: LabId = Field(description="The lab's id, equal to the name of its folder.")
    title: Title = Field(description="The title, one line.")
    minutes: int = Field(ge=1, le=600, description="How long a learner takes, in minutes.")
    after: tuple[LabId, ...] = Field((), description="Labs to do before this one.")
    workdir: Annotated[str, AfterValidator(_workdir), _pattern(_WORKDIR)] = Field(
        description="Folder of the learner's files, below the home folder."
    )
    namespace: Annotated[str, AfterValidator(_namespace), _pattern(_NAMESPACE)] = Field(
        description="Namespace that exists at the start and is kubectl's default."
    )
    languages: Annotated[
        tuple[Annotated[str, AfterValidator(_language), Field(json_schema_extra={"enum": list(LANGUAGES)})], ...],
        AfterValidator(_with_english),
    ] = Field(LANGUAGES, description="The languages the lab is written in; each but English has a file of its own.")
    cluster: ClusterMatter = Field(description="What the cluster is made of.")
    values: dict[ValueName, ValueMatter] = Field(
        default={}, max_length=MOST, description="Values that are drawn for each session, by name."
    )


class TranslatedFrontMatter(_Matter):
    """The front matter of `lab.<language>.md`: everything else is said once, in `lab.md`."""

    format: int = Field(ge=1, le=FORMAT, description="Version of the lab format: 1.")
    lab: LabId = Field(description="The lab's id, as in lab.md.")
    title: Title = Field(description="The title in this language.")


def read_front_matter(
    source: Source, text: str, lab_id: str, found: list[LabProblem]
) -> tuple[FrontMatter | None, Located | None]:
    """The front matter of `lab.md` in the folder named `lab_id`: None where anything in it is wrong.

    Beside it, the mapping as it was written: None where it is no mapping, or of a newer format.
    """
    located = read_versioned(source, found, text=text, first_line=2)
    if located is None:
        return None, None
    before = len(found)
    matter = _validated(FrontMatter, located, lab_id, found)
    found += _across(located)
    return (matter if len(found) == before else None), located


def read_translated_front_matter(
    source: Source, text: str, lab_id: str, found: list[LabProblem]
) -> TranslatedFrontMatter | None:
    """The front matter of `lab.<language>.md`; None where anything in it is wrong."""
    located = read_versioned(source, found, text=text, first_line=2)
    return None if located is None else _validated(TranslatedFrontMatter, located, lab_id, found)


def read_versioned(
    source: Source, found: list[LabProblem], *, text: str | None = None, first_line: int = 1
) -> Located | None:
    """The one document of `text` (default: the whole source), of whose keys `format` is one.

    None where it is no mapping, or of a newer format.
    """
    located = read_document(source, found, text=text, first_line=first_line)
    if located is None:
        return None
    if not isinstance(located.value, dict):
        found.append(located.problem((), _("must be a mapping (key: value)")))
        return None
    version = located.value.get("format")
    if isinstance(version, int) and version > FORMAT:  # whatever else looks wrong may be right there
        message = _("format {version} is newer than this version knows ({known}): upgrade batchlab")
        found.append(located.problem(("format",), message.format(version=version, known=FORMAT)))
        return None
    return located


def _validated(model: type[Model], located: Located, lab_id: str, found: list[LabProblem]) -> Model | None:
    before = len(found)
    matter = validate(model, located.value, located, found)
    said = located.value.get("lab")
    if isinstance(said, str) and ID.match(said) and said != lab_id:
        message = _("lab '{said}' is not the name of its folder, '{folder}'").format(said=said, folder=lab_id)
        found.append(located.problem(("lab",), message))
    return matter if len(found) == before else None


def _across(located: Located) -> Iterator[LabProblem]:
    """What is wrong between values. Reads the plain value, so that a fault elsewhere hides none of these."""
    value = located.value
    cluster = value["cluster"] if isinstance(value.get("cluster"), dict) else {}
    after = [(("after", index), lab) for index, lab in _entries(value, "after")]
    yield from repeated(located, after)
    for path, lab in after:
        if lab == value.get("lab"):
            yield located.problem(path, _("a lab can't come after itself"))
    yield from repeated(
        located, [(("cluster", "addons", index), addon) for index, addon in _entries(cluster, "addons")]
    )
    yield from _addons_together(located, _entries(cluster, "addons"))
    nodes = [(index, node) for index, node in _entries(cluster, "nodes") if isinstance(node, dict)]
    yield from repeated(located, [(("cluster", "nodes", index, "name"), node.get("name")) for index, node in nodes])
    real = [("cluster", "nodes", index, "real") for index, node in nodes if node.get("real") is True]
    for extra in real[1:]:
        message = _("a second real node (the first on line {line}): a lab may have one")
        yield located.problem(extra, message.format(line=located.place(real[0])[0]))


def _addons_together(located: Located, addons: Sequence[tuple[int, Any]]) -> Iterator[LabProblem]:
    named = [addon for _index, addon in addons]
    for index, addon in addons:
        for needed in ADDON_NEEDS.get(addon, ()) if isinstance(addon, str) else ():
            if needed not in named:
                message = _("the add-on '{addon}' needs the add-on '{needed}' beside it: name both")
                yield located.problem(("cluster", "addons", index), message.format(addon=addon, needed=needed))
    for pair in NEVER_TOGETHER:
        if set(pair) <= set(filter(_is_text, named)):
            index, addon = [(index, addon) for index, addon in addons if addon in pair][-1]
            yield located.problem(("cluster", "addons", index), never_together(*pair))


def never_together(one: str, other: str) -> str:
    """The sentence about two add-ons of which a cluster has one at most."""
    message = _("the add-ons '{one}' and '{other}' can't be in one cluster: both own MPIJob, each in another version")
    return message.format(one=one, other=other)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _entries(mapping: dict[str, Any], key: str) -> list[tuple[int, Any]]:
    value = mapping.get(key)
    return list(enumerate(value)) if isinstance(value, list) else []


def repeated(located: Located, words: Sequence[tuple[Path, Any]]) -> Iterator[LabProblem]:
    """Each text of `words` (path, text) that stood there before."""
    first: dict[str, int] = {}
    for path, word in words:
        if not isinstance(word, str):
            continue
        line = located.place(path)[0]
        if word in first:
            message = _("'{word}' again (first on line {line})").format(word=word, line=first[word])
            yield located.problem(path, message)
        first.setdefault(word, line)
