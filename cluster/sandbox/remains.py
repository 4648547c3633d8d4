"""What a sandbox leaves on the host, and its removal.

Owns the list of it; imported by whoever finds a dead sandbox, so it imports little.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from cluster.machine import Layout
from cluster.sandbox import cgroups


def clean(layout: Layout) -> list[Path]:
    """Remove what a dead sandbox leaves on the host outside its folder, and its sockets. What is left of it."""
    left = cgroups.remove(layout.cgroup, layout.cgroups) if os.geteuid() == 0 else []
    for path in (layout.control, *layout.run.glob("*.sock"), *layout.desk.glob("*.sock")):
        path.unlink(missing_ok=True)
    shutil.rmtree(layout.etcd, ignore_errors=True)
    return left
