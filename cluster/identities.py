"""Who is who in a lab's cluster: the users and groups that certificates name and roles are bound to."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LEARNER, LEARNERS = "learner", "batchlab:learners"
GRADER, GRADERS = "grader", "batchlab:graders"
SCRIPT, SCRIPTS = "lab-script", "batchlab:scripts"
SUPERVISOR = "batchlab-supervisor"
WEBHOOK_CA = "webhook-ca.crt"
"""The file below `pki` of the authority that vouches for webhooks and aggregated APIs. It is not the cluster's: its
certificate stands in objects of the datastore, which a snapshot keeps, and the cluster's is new for each machine."""
KUBELET_CLIENT = "kube-apiserver-kubelet-client"


def ca_bundle(certificate: Path) -> str:
    """A PEM file as a manifest's `caBundle` wants it: base64 of the whole text."""
    return b64encode(certificate.read_bytes()).decode()
