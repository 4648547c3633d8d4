"""What *Operators for training* says of a JobSet by hand, and of kinds that are not there."""

from __future__ import annotations

from tests.cluster.articles import NAMESPACE, remove, shown
from tests.cluster.conftest import Machine, needs_root, until

pytestmark = needs_root


def test_ranks_of_a_jobset_by_hand(machine: Machine) -> None:
    jobset = shown("training-operators", "JobSet", "ddp")
    machine.api.apply(jobset)

    def said() -> set[str]:
        logs = machine.desk("kubectl logs -l jobset.sigs.k8s.io/jobset-name=ddp").stdout
        return set(logs.splitlines())

    until(lambda: said() == {f"rank {rank} of 2, 0 is ddp-node-0-0.ddp" for rank in (0, 1)})
    (first,) = machine.pods("jobset.sigs.k8s.io/jobset-name=ddp,batch.kubernetes.io/job-completion-index=0")
    full = f"ddp-node-0-0.ddp.{NAMESPACE}.svc.cluster.local"
    until(
        lambda: (
            first["status"]["podIP"]
            in machine.desk(f"kubectl exec {first['metadata']['name']} -- nslookup {full}").stdout
        )
    )
    remove(machine, jobset)


def test_a_kind_that_is_not_installed(machine: Machine) -> None:
    script = (
        "printf 'apiVersion: kubeflow.org/v1\\nkind: PyTorchJob\\nmetadata: {name: ddp}\\n' | kubectl apply -f - 2>&1"
    )
    said = machine.desk(script).stdout
    assert 'no matches for kind "PyTorchJob" in version "kubeflow.org/v1"\nensure CRDs are installed first' in said
