"""`file`: mentions, lines, YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.checks.conftest import Llm, Look, Write

YAML = """
file:
  file: lws.yaml
  yaml:
    match:
      apiVersion: leaderworkerset.x-k8s.io/v1
      kind: LeaderWorkerSet
      metadata: {name: llm}
      spec:
        replicas: 2
        leaderWorkerTemplate:
          size: 2
          workerTemplate:
            spec:
              containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]
"""
LWS = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: llm, namespace: infer}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 2
    leaderTemplate: &t
      metadata: {labels: {a: b}}
      spec:
        containers:
        - name: c
          image: busybox
          resources: {limits: {nvidia.com/gpu: "1"}, requests: {nvidia.com/gpu: "1"}}
    workerTemplate: *t
"""


@pytest.mark.parametrize(
    "text",
    [
        LWS,
        LWS.replace("\n", "\r\n"),
        "\ufeff" + LWS,
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: infer}\n---\n" + LWS + "---\n",
        "apiVersion: v1\nkind: List\nitems:\n- " + LWS.replace("\n", "\n  "),
    ],
    ids=["anchor", "crlf", "bom", "documents", "list"],
)
def test_yaml_in_any_writing(text: str, look: Look, write: Write) -> None:
    write("lws.yaml", text)
    assert look(YAML).passed


def test_json_is_yaml(look: Look, write: Write) -> None:
    import json

    import yaml

    write("lws.yaml", json.dumps(yaml.safe_load(LWS), indent=2))
    assert look(YAML).passed


def test_one_group_of_four(look: Look, write: Write) -> None:
    write("lws.yaml", LWS.replace("replicas: 2", "replicas: 1").replace("size: 2", "size: 4"))
    finding = look(YAML).finding
    assert finding.wanted == "spec.replicas 2; spec.leaderWorkerTemplate.size 2"
    assert finding.saw == "spec.replicas is 1; spec.leaderWorkerTemplate.size is 4"
    assert finding.where == ("lws.yaml:5", "lws.yaml:7")


def test_gpu_is_missing(look: Look, write: Write) -> None:
    write("lws.yaml", LWS.replace('nvidia.com/gpu: "1"', "cpu: 1"))
    finding = look(YAML).finding
    path = 'spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].resources.limits["nvidia.com/gpu"]'
    assert finding.saw == f"{path} is not there"
    assert finding.where == ("lws.yaml:14",)


def test_differences_are_those_of_the_object_that_is_meant(look: Look, write: Write) -> None:
    other = LWS.replace("name: llm", "name: wide").replace("limits", "requests")
    write("lws.yaml", other + "---\n" + LWS.replace("replicas: 2", "replicas: 3").replace("size: 2", "size: 3"))
    assert look(YAML).finding.saw == "spec.replicas is 3; spec.leaderWorkerTemplate.size is 3"


@pytest.mark.parametrize(
    ("text", "saw", "where"),
    [
        ("a:\n\tb: 1\n", "lws.yaml is not valid YAML: a tab where spaces belong", "lws.yaml:2"),
        ("a: [1\n", "lws.yaml is not valid YAML: ", "lws.yaml:2"),
        ("a: b: c\n", "lws.yaml is not valid YAML: mapping values are not allowed here", "lws.yaml:1"),
        ("# nothing\n", "lws.yaml holds none", "lws.yaml"),
        ("hello\n", 'the object is "hello"', "lws.yaml:1"),
        ("[" * 5000, "lws.yaml is not valid YAML: nested too deeply", "lws.yaml:1"),
        ("a: !!python/object/apply:os.getcwd []\n", "lws.yaml is not valid YAML: ", "lws.yaml:1"),
        ("a: \x01\n", "lws.yaml is not valid YAML: ", "lws.yaml"),
        ("? [a]\n: 1\n", "lws.yaml is not valid YAML: ", "lws.yaml:1"),
    ],
    ids=["tab", "open", "colons", "comment", "word", "deep", "tag", "control", "odd-key"],
)
def test_not_such_yaml(text: str, saw: str, where: str, look: Look, write: Write) -> None:
    write("lws.yaml", text)
    verdict = look(YAML)
    assert not verdict.passed
    assert verdict.finding.saw.startswith(saw)
    assert verdict.finding.where == (where,)


def test_endless_alias_is_shown_short(look: Look, write: Write) -> None:
    write("x.yaml", "spec: &a\n  size: [*a, *a]\n")
    finding = look("file: {file: x.yaml, yaml: {match: {spec: {size: 2}}}}").finding
    assert len(finding.saw) < 100


DNS = """
file:
  file: dns.txt
  with:
    worker: {kind: Pod, name: llm-1-1, when: written}
    leader: {kind: Pod, name: llm-1, when: written}
  mentions:
    - "{{ worker | env('LWS_LEADER_ADDRESS') }}.svc.cluster.local"
    - "{{ leader.status.podIP }}"
"""


def answer(name: str, ip: str) -> str:
    return f"Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\nName:\t{name}\nAddress: {ip}\n\n"


class TestMentions:
    """Step 4 of lab-lws: the look-up of the leader."""

    NAME = "llm-1.llm.infer.svc.cluster.local"

    def ip(self, llm: Llm, name: str = "llm-1") -> str:
        return str(llm.pods[name]["status"]["podIP"])

    def test_looked_up(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        write("dns.txt", answer(self.NAME, self.ip(llm)))
        assert look(DNS).passed

    def test_absolute_name_ends_with_a_stop(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        write("dns.txt", f"{self.NAME}.\t5\tIN\tA\t{self.ip(llm)}\n")
        assert look(DNS).passed

    def test_address_of_then(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        write("dns.txt", answer(self.NAME, self.ip(llm)))
        llm.recreate(1)
        assert look(DNS).passed

    def test_short_name(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        write("dns.txt", "** server can't find llm-1.llm.infer: NXDOMAIN\n")
        finding = look(DNS).finding
        assert finding.saw == "dns.txt does not mention it"
        assert finding.where == ("dns.txt", "Pod infer/llm-1-1")
        assert self.NAME not in str(finding)

    def test_address_of_another_leader(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        write("dns.txt", answer(self.NAME, self.ip(llm, "llm-0")))
        finding = look(DNS).finding
        assert finding.wanted == "leader.status.podIP as a whole word"
        assert self.ip(llm) not in str(finding)

    def test_longer_address(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        write("dns.txt", answer(self.NAME, self.ip(llm) + "7"))
        assert not look(DNS).passed

    def test_by_hand_without_the_name(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        write("dns.txt", f"{self.ip(llm)}\n")
        assert not look(DNS).passed

    def test_nothing_to_mention_is_not_mentioned(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        llm.change("llm-1", status={"podIP": ""})
        write("dns.txt", answer(self.NAME, "10.0.0.1"))
        verdict = look(DNS.replace("when: written", "when: now"))
        assert not verdict.passed
        assert verdict.finding.saw == "the cluster does not show it (yet): leader.status.podIP is empty"

    def test_not_mentioned(self, look: Look, write: Write) -> None:
        text = "file: {file: a.txt, not_mentions: [latest]}"
        write("a.txt", "image: busybox:1.37\nlatestly\n")
        assert look(text).passed
        write("a.txt", "x\nimage: busybox:latest\n")
        finding = look(text).finding
        assert (finding.saw, finding.where) == ('"image: busybox:latest"', ("a.txt:2",))


def test_lines(look: Look, write: Write) -> None:
    text = "file: {file: a.txt, lines: [one 1, two 2]}"
    write("a.txt", "two  2\r\nsomething else\r\n  one 1  \r\n")
    assert look(text).passed
    write("a.txt", "one 12\ntwo 2\n")
    assert look(text).finding.wanted == 'the line "one 1"'


def test_it_is_enough_to_be_there(look: Look, write: Write) -> None:
    text = "file: {file: notes/a.txt}"
    assert look(text).finding.saw == "notes/a.txt does not exist"
    path = write("x", "").parent / "notes"
    path.mkdir()
    write("notes/a.txt", "hello")
    assert look(text).passed
