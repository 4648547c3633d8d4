"""Add-ons: the controllers a lab can ask for by name, with their CRDs, webhooks and probes."""

from __future__ import annotations

from cluster.addons.jobset import JOBSET
from cluster.addons.kueue import KUEUE
from cluster.addons.lws import LWS
from cluster.addons.model import Addon
from cluster.addons.mpi_operator import MPI_OPERATOR
from cluster.addons.trainer import TRAINER
from cluster.addons.training_operator import TRAINING_OPERATOR

ADDONS: dict[str, Addon] = {
    addon.name: addon for addon in (JOBSET, LWS, KUEUE, TRAINER, MPI_OPERATOR, TRAINING_OPERATOR)
}

__all__ = ["ADDONS", "Addon"]
