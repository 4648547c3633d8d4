"""A draft as the folder of a lab: `lab.md`, its scripts and files, and a README of where it came from.

Owns how a draft is spelled and how a folder comes into being: whole or not at all, and never over another.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import yaml

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.importing.draft import NAMESPACE, WORKDIR, CheckDraft, LabDraft
from grader.importing.ledger import Outcome
from grader.lab.exceptions import EXCEPTIONS_FILE
from grader.lab.needs import untold
from grader.lab.problems import STRANGE
from grader.session.places import stamp

KEPT = ".before-import-"
_READ = ("solution/", "start/", "scripts/", "wrong/")
"""Folders whose files are texts that lint reads."""


def write_lab(lab: LabDraft, folder: Path, *, force: bool) -> Path | None:
    """Write the lab into `folder`. Where that exists: UsageProblem, or with `force` it is kept under the name that is
    returned."""
    if folder.exists() and not force:
        raise UsageProblem(
            _("{folder} exists already").format(folder=folder),
            _("--force keeps it under another name; --to DIR writes somewhere else"),
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".import-", dir=folder.parent) as name:
        made = Path(name) / folder.name
        _fill(lab, made)
        kept = None
        if folder.exists():
            kept = folder.with_name(f"{folder.name}{KEPT}{stamp()}")
            if kept.exists():
                kept = kept.with_name(f"{kept.name}-{os.getpid()}")
            folder.rename(kept)
        made.rename(folder)
    return kept


def excuse_solutions(lab: LabDraft, folder: Path) -> None:
    """Declare in `exceptions.yaml` what the source's own solutions use without its text telling of it: a learner has
    to find it out, and lint takes that for a mistake."""
    said = []
    for step, script, need, _lacking in untold(folder):
        said.append(
            {"step": step, "uses": need.name, "because": "The source's solution uses it, its text never says so."}
        )
        reason = _("the solution uses `{what}`, which the text never mentions").format(what=need.name)
        place = next((one.place for one in lab.steps if one.id == step), lab.place)
        lab.ledger.approximated(place, f"{script.parent.name}/{script.name}", EXCEPTIONS_FILE, reason)
    if said:
        (folder / EXCEPTIONS_FILE).write_text(_yaml({"commands": said}), encoding="utf-8")


def _plain(lab: LabDraft, name: str, data: bytes) -> bytes:
    """A text without what no lab's text may hold, since a terminal would obey it; each such character is told."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data  # lint says so
    for number, line in enumerate(text.split("\n"), start=1):
        for strange in sorted({ord(found[0]) for found in STRANGE.finditer(line)}):
            what = _("the control character U+{code:04X}").format(code=strange)
            lab.ledger.approximated(lab.place, what, f"{name}:{number}", _("no lab's text may hold it: left out"))
    return STRANGE.sub("", text).encode()


def _fill(lab: LabDraft, folder: Path) -> None:
    texts = {"lab.md": lab_text(lab), "README.md": readme(lab)}
    folder.mkdir()
    for name, file in lab.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_plain(lab, name, file.data) if name.startswith(_READ) else file.data)
        path.chmod(0o755 if file.executable else 0o644)
    for name, text in texts.items():
        (folder / name).write_bytes(_plain(lab, name, text.encode()))
    shutil.copymode(folder.parent.parent, folder)


def lab_text(lab: LabDraft) -> str:
    """`lab.md`."""
    matter: dict[str, Any] = {
        "format": 1,
        "lab": lab.id,
        "title": lab.title,
        "minutes": lab.minutes,
        **({"after": lab.after} if lab.after else {}),
        "workdir": WORKDIR,
        "namespace": NAMESPACE,
        "languages": ["en"],
        "cluster": {**({"addons": lab.addons} if lab.addons else {}), "nodes": [_node(node) for node in lab.nodes]},
    }
    parts = [f"---\n{_yaml(matter)}---", lab.intro.strip("\n")]
    for step in lab.steps:
        parts += [f"## {_title(step.title)} {{#{step.id}}}", step.body.strip("\n")]
        checks = _yaml([_check(check) for check in step.checks])
        tick = "```"
        while tick in checks:
            tick += "`"
        parts.append(f"{tick}yaml check\n{checks}{tick}")
        hints = dict.fromkeys(hint.strip("\n") for hint in step.hints if hint.strip())
        parts += [f"::: hint\n\n{hint}\n\n:::" for hint in hints]
    return "\n\n".join(part for part in parts if part) + "\n"


def readme(lab: LabDraft) -> str:
    """Where the lab came from, and what its author has to look at."""
    ledger = lab.ledger
    lines = [
        f"# {lab.title}",
        "",
        _("Converted by `grader import` from {source} ({file}).").format(source=lab.source, file=lab.place.file),
        "",
    ]
    about = [(key, value) for key, value in lab.about if value]
    if about:
        lines += ["| | |", "|---|---|", *(f"| {key} | {_cell(value)} |" for key, value in about), ""]
    left = [entry for entry in ledger.sorted() if entry.outcome is Outcome.UNMAPPED]
    if left:
        lines += [_("What nothing came of:"), ""]
        lines += [f"- `{entry.place}` {_cell(entry.what)}: {_cell(entry.reason)}" for entry in left]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def _check(check: CheckDraft) -> dict[str, Any]:
    return {
        "id": check.id,
        "says": check.says,
        **({"after": check.after} if check.after else {}),
        **({"within": check.within} if check.within else {}),
        **check.kind,
    }


def _node(node: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"name": node.name}
    if not node.taint:
        said["taint"] = False
    if node.labels:
        said["labels"] = dict(node.labels)
    return said


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000, default_flow_style=None)


def _title(title: str) -> str:
    """A heading's text: braces at its end would be taken for an id."""
    return title.replace("{#", "{ #").strip("# ") or "-"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
