"""The code blocks of one article: YAML that is what its block says it is, and lines that fit.

Owns the three kinds of YAML blocks and what a complete object must be; sends nothing to a cluster.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from cluster.i18n import _
from grader.content.text import WIDEST
from grader.lab.located import Located, read_documents
from grader.lab.manifests import malformed
from grader.lab.problems import LabProblem, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.content.article import Reading
    from grader.lab.model import CodeBlock

FRAGMENT, NOT_INSTALLED = "fragment", "not-installed"
IMAGES = ("busybox:stable",)
"""What containers of complete objects may run: what our clusters have."""


def is_complete(block: CodeBlock) -> bool:
    """Whether the block holds whole objects, of kinds that are installed or not."""
    return block.language == "yaml" and FRAGMENT not in block.flags


def documents(block: CodeBlock, source: Source, found: list[LabProblem]) -> list[Located]:
    """The YAML documents of a block, each part with its place in the file."""
    line = source.text.split("\n")[block.line - 1]
    indent = len(line) - len(line.lstrip())
    return read_documents(source, found, text=block.text, first_line=block.line + 1, indent=indent)


def check_code(reading: Reading) -> list[LabProblem]:
    """What is wrong with the code blocks of one article."""
    source = reading.source
    found: list[LabProblem] = []
    for section in reading.outline.steps:
        for block in section.blocks:
            found += _lines(block, source)
            if len(block.flags) > 1:
                message = _("one word after the block's language is enough: {flags}")
                found.append(source.problem(block.line, 1, message.format(flags=", ".join(block.flags))))
            if block.language != "yaml":
                continue
            before = len(found)
            values = documents(block, source, found)
            if not is_complete(block):
                continue
            found += _objects(block, values)
            if len(found) == before and not any(located.value for located in values):
                message = _("no object in this block: a part of one is marked 'fragment'")
                found.append(source.problem(block.line, 1, message))
    return found


def compare_code(reading: Reading, other: Reading) -> Iterator[LabProblem]:
    """Where the code of the translation `other` is not that of `reading`; comments and plain text are prose."""
    for section in other.outline.steps:
        original = reading.section(section.id)
        if original is None:
            continue
        ours, theirs = section.blocks, original.blocks
        for mine, wanted in zip(ours, theirs, strict=False):
            if _code(mine) != _code(wanted):
                message = _("not the code block of the English article (line {line} there)")
                yield other.source.problem(mine.line, 1, message.format(line=wanted.line))
                break
        else:
            if len(ours) != len(theirs):
                message = _("code blocks in this section: {count} here, {other} in the English article")
                message = message.format(count=len(ours), other=len(theirs))
                yield other.source.problem(section.line, 1, message)


def _code(block: CodeBlock) -> tuple[object, ...]:
    """What two languages must have in common of a block."""
    if block.language == "text":
        return ("text",)
    if block.language == "yaml":
        unread: list[LabProblem] = []
        values = [document.value for document in read_documents(Source(Path(), block.text), unread)]
        if not unread:
            return ("yaml", block.flags, values)
    lines = [line.rstrip() for line in block.text.split("\n") if not line.lstrip().startswith("#")]
    return (block.language, block.flags, lines)


def _lines(block: CodeBlock, source: Source) -> Iterator[LabProblem]:
    for number, line in enumerate(block.text.split("\n"), start=block.line + 1):
        if "\t" in line and block.language != "yaml":  # of YAML its reader says it
            yield source.problem(number, line.index("\t") + 1, _("a tab: indent with spaces"))
        elif (width := cell_len(line)) > WIDEST:
            message = _("a line of code {width} columns wide; at most {widest}")
            yield source.problem(number, WIDEST + 1, message.format(width=width, widest=WIDEST))


def _objects(block: CodeBlock, values: list[Located]) -> Iterator[LabProblem]:
    for located in values:
        problems = list(malformed(located))
        yield from problems
        if problems or located.value is None:
            continue
        if "namespace" in located.value["metadata"]:
            yield located.problem(("metadata", "namespace"), _("leave the namespace out"), key=True)
        if NOT_INSTALLED not in block.flags:
            for path, image in _images(located.value, ()):
                if image not in IMAGES:
                    message = _("clusters have no image '{image}'; use {images}")
                    message = message.format(image=image, images=", ".join(IMAGES))
                    yield located.problem(path, message)


def _images(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """(path, image) of every container in a manifest."""
    pairs: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
        if isinstance(value.get("image"), str):
            yield (*path, "image"), value["image"]
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    for key, inner in pairs:
        yield from _images(inner, (*path, key))
