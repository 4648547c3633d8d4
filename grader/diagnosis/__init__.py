"""Why something waits, or is not what one thinks: the chain of objects that decide, and the well-known cause.

Owns the causes (`docs/learner.md` lists them) and how each is recognised; it only reads, through a `World`.
Knows nothing of labs, steps or answers, and prints nothing.
"""

from __future__ import annotations

from grader.diagnosis.diagnose import diagnose
from grader.diagnosis.model import Cause, Diagnosis, Fault, Link

__all__ = ["Cause", "Diagnosis", "Fault", "Link", "diagnose"]
