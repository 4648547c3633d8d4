"""What tests of collections share: labs to be collected, and repositories made for one test."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

LAB = """---
format: 1
lab: {lab}
title: {title}
minutes: 5
workdir: work
namespace: lab
cluster:
  nodes:
    - {{name: fake-a}}
---
About it.

## One {{#one}}

Do it.

```yaml check
- id: done
  says: it is done
  resource:
    of: {{kind: ConfigMap, name: done}}
```
"""


def write_lab(folder: Path, lab: str = "lab-x", title: str = "A lab") -> Path:
    """A lab that can be read, in `folder`; its own folder."""
    home = folder / lab
    home.mkdir(parents=True)
    (home / "lab.md").write_text(LAB.format(lab=lab, title=title))
    return home


class Repository:
    """A repository of git on this disk, with a history of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    @property
    def url(self) -> str:
        """Its address."""
        return f"file://{self.folder}"

    def git(self, *words: str) -> str:
        """What git says, with nothing of the developer's settings."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        line = ["git", "-c", "protocol.file.allow=always", *words]
        return subprocess.run(
            line, cwd=self.folder, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, message: str = "a change") -> str:
        """Commit everything there is; the commit."""
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """One with a lab in it, committed."""
    made = Repository(tmp_path / "repository")
    write_lab(made.folder / "labs")
    made.commit()
    return made


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty state folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "batchlab"
