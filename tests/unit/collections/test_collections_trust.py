"""What a person is told that a lab by others would run."""

from __future__ import annotations

from pathlib import Path

from grader.collections.trust import what_runs
from grader.lab.parse import parse_lab
from tests.unit.collections.conftest import write_lab


def test_scripts_of_checks_and_of_the_start_are_told(tmp_path: Path) -> None:
    folder = write_lab(tmp_path)
    (folder / "start").mkdir(exist_ok=True)
    (folder / "start/10-fill.sh").write_text("kubectl create namespace more\n")
    (folder / "scripts").mkdir()
    (folder / "scripts/look.sh").write_text("kubectl get pods\n")
    text = (folder / "lab.md").read_text()
    blocks = """
```yaml check
- id: a-file
  says: the script finds it
  script: {file: look.sh}
- id: a-text
  says: the text finds it
  script: {run: kubectl get nodes}
```
"""
    (folder / "lab.md").write_text(text.rstrip() + "\n" + blocks)
    lab, problems = parse_lab(folder)
    assert lab is not None, problems
    runs = what_runs(lab)
    assert (runs.scripts, runs.setup) == (("scripts/look.sh", "kubectl get nodes"), ("start/10-fill.sh",))
