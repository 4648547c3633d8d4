"""Values of a session: drawn once, the same after a reset, others when asked for."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem, UsageProblem
from cluster.machine import BootEvent
from grader.lab.model import Lab
from grader.lab.parse import parse_lab
from grader.session import lifecycle
from grader.session.here import become_examiner
from grader.session.values import (
    FILE,
    keep_values,
    kept_values,
    refuse_examples,
    settled,
    shell_environment,
    values_of,
)
from tests.unit.session.pretended import PretendedMachines

EXAMPLE = Path(__file__).parents[1] / "lab" / "example" / "lab-hello"
DECLARED = "values:\n  replicas: {one_of: [2, 3, 4]}\n  team: {letters: 6}\n"


@pytest.fixture
def valued(tmp_path: Path) -> Lab:
    folder = Path(shutil.copytree(EXAMPLE, tmp_path / "labs" / "lab-hello"))
    for name in ("lab.md", "lab.ko.md"):
        text = (folder / name).read_text()
        extra = DECLARED if name == "lab.md" else ""
        head, matter, body = text.split("---\n", 2)
        text = f"{head}---\n{matter}{extra}---\n{{{{ values.replicas }}}} of {{{{ values.team }}}}\n{body}"
        (folder / name).write_text(text)
    quota = folder / "start" / "quota.yaml"
    quota.write_text(quota.read_text().replace('"4"', '"{{ values.replicas }}"'))
    lab, problems = parse_lab(folder)
    assert lab is not None, problems
    return lab


def hear(_event: BootEvent) -> None:
    pass


def silent(_sentence: str) -> None:
    pass


def quota(lab: Lab) -> object:
    return next(one for one in lab.cluster.manifests if one["kind"] == "ResourceQuota")["spec"]["hard"]


def test_before_a_start_the_text_shows_examples_and_says_so(valued: Lab) -> None:
    assert valued.examples == {"replicas", "team"}
    assert valued.intro.startswith("> `2` (replicas), `bcdfgh` (team): an example.")
    assert "2 of bcdfgh" in valued.intro


def test_a_session_draws_once(valued: Lab, tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = settled(valued, home, silent)
    assert first.examples == frozenset()
    assert kept_values(home) == first.values
    assert stat.S_IMODE((home / FILE).stat().st_mode) == 0o600
    assert first.values["replicas"] in (2, 3, 4)
    assert f"{first.values['replicas']} of {first.values['team']}" in first.intro
    assert quota(first) == {"requests.nvidia.com/gpu": first.values["replicas"]}
    assert [settled(valued, home, silent).values for _again in range(5)] == [first.values] * 5


def test_asked_for_anew_each_is_another(valued: Lab, tmp_path: Path) -> None:
    before = settled(valued, tmp_path, silent).values
    for _again in range(10):
        after = settled(valued, tmp_path, silent, anew=True).values
        assert all(after[name] != before[name] for name in after)
        before = after


def test_a_value_that_can_not_be_any_more_is_drawn_anew_and_others_stay(valued: Lab, tmp_path: Path) -> None:
    keep_values(tmp_path, {"replicas": 9, "team": "bcdfgh", "gone": 1})
    values = settled(valued, tmp_path, silent).values
    assert values["replicas"] in (2, 3, 4)
    assert values["team"] == "bcdfgh"
    assert "gone" not in kept_values(tmp_path)


def test_a_damaged_file_is_set_aside_and_said(valued: Lab, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{nonsense")
    said: list[str] = []
    settled(valued, tmp_path, said.append)
    assert len(said) == 1
    assert "values.json was damaged" in said[0]
    assert len(list(tmp_path.glob("values.json.damaged-*"))) == 1


def test_a_lab_without_values_gets_no_file(lab: Lab, tmp_path: Path) -> None:
    assert settled(lab, tmp_path, silent) is lab
    assert not (tmp_path / FILE).exists()
    assert shell_environment(tmp_path) == {}


def test_a_check_without_drawn_values_is_refused(valued: Lab, lab: Lab) -> None:
    refuse_examples(lab)
    with pytest.raises(EnvironmentProblem, match="no value for replicas, team") as refused:
        refuse_examples(valued)
    assert "grader reset lab-hello" in refused.value.advice


def test_files_that_became_wrong_are_told_at_the_start(valued: Lab, tmp_path: Path) -> None:
    (valued.folder / "lab.md").write_text("nothing")
    with pytest.raises(UsageProblem, match=r"lab\.md:1:1"):
        settled(valued, tmp_path, silent)


def test_start_reset_and_a_reset_with_new_values(
    valued: Lab, machines: PretendedMachines, state_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = state_home / "sessions" / "lab-hello"
    lifecycle.start_session(valued, on_event=hear)
    values = kept_values(home)
    lifecycle.reset_session(valued, on_event=hear)
    assert kept_values(home) == values
    lifecycle.reset_session(valued, on_event=hear, new_values=True)
    after = kept_values(home)
    assert all(after[name] != values[name] for name in after)
    hard = [
        manifest["spec"]["hard"]["requests.nvidia.com/gpu"]
        for config in machines.configs
        for manifest in config.spec.manifests
        if manifest["kind"] == "ResourceQuota"
    ]
    assert hard == [values["replicas"], values["replicas"], after["replicas"]]
    assert values_of("lab-hello") == after
    assert shell_environment(home) == {
        "VALUES_REPLICAS": str(after["replicas"]),
        "VALUES_TEAM": after["team"],
    }


def test_the_examiner_sees_those_of_its_own_session(
    tmp_path: Path, state_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.session.here._examination", None)
    keep_values(state_home / "sessions" / "lab-hello", {"replicas": 2})
    keep_values(tmp_path / "verify" / "lab-hello", {"replicas": 4})
    assert values_of("lab-hello") == {"replicas": 2}
    become_examiner(tmp_path / "verify" / "lab-hello")
    assert values_of("lab-hello") == {"replicas": 4}
