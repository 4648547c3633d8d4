"""What is the fault of a lab's author, told apart from the learner's, the machine's and our own.

Owns that one word; knows nothing of what a lab did wrong.
"""

from __future__ import annotations

from cluster.errors import UsageProblem


class LabFault(UsageProblem):
    """Something of the lab itself is wrong, or took more than it may: `message` says what."""
