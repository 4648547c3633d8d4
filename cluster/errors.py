"""The problems a person can be told about, each with the exit code it ends a command with.

Owns the vocabulary of failure; knows nothing of who prints it. Anything that is raised and is not a
`Problem` is our own bug (exit code 4): see `grader.cli`.
"""

from __future__ import annotations


class Problem(Exception):
    """Something a person can act on: `message` says what is wrong, `advice` what to do about it."""

    exit_code = 4

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


class UsageProblem(Problem):
    """The command line, a lab file or a bundle is wrong."""

    exit_code = 2


class EnvironmentProblem(Problem):
    """The machine, the sandbox or the cluster can't do it now: never the learner's failure."""

    exit_code = 3


class ApiUnavailable(EnvironmentProblem):
    """kube-apiserver did not answer (refused, timed out, 5xx)."""


class ApiRefused(Problem):
    """kube-apiserver or a webhook said no; `status` is the HTTP code, `reason` metav1.Status.reason."""

    exit_code = 3

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class WatchExpired(Exception):
    """410 Gone: the resourceVersion is too old to go on from; list again and note the gap."""
