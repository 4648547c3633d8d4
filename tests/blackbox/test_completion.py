"""Completion as each shell does it, with the script that `grader completion` prints."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.blackbox.person import Person


def in_shell(person: Person, argv: list[str], **more: str) -> str:
    done = subprocess.run(
        argv, capture_output=True, text=True, env=person.environment(**more), cwd=person.home, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def has(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


class TestBash:
    def offered(self, person: Person, *words: str) -> list[str]:
        """What bash offers for the last of `words`, as its own completion machinery finds it."""
        script = r"""
            eval "$(grader completion bash)"
            spec=$(complete -p grader)
            function=$(sed -E 's/.*-F ([^ ]+) .*/\1/' <<< "$spec")
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            "$function" grader "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\n' "${COMPREPLY[@]}"
        """
        return in_shell(person, ["bash", "--norc", "-c", script, "-", *words]).split()

    def test_script_is_bash(self, person: Person) -> None:
        script = person.run("completion", "bash").out
        done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")

    def test_commands(self, person: Person) -> None:
        assert self.offered(person, "grader", "sta") == ["start", "status"]

    def test_labs(self, person: Person) -> None:
        assert self.offered(person, "grader", "start", "lab-l") == ["lab-lws"]

    def test_options(self, person: Person) -> None:
        assert self.offered(person, "grader", "check", "--w") == ["--watch"]

    def test_words_of_a_set(self, person: Person) -> None:
        assert self.offered(person, "grader", "completion", "") == ["bash", "zsh", "fish"]

    def test_nothing_for_nonsense(self, person: Person) -> None:
        assert self.offered(person, "grader", "zzz") == []


class TestZsh:
    def test_script_asks_for_completions(self, person: Person) -> None:
        script = person.run("completion", "zsh").out
        assert script.startswith("#compdef grader\n")
        assert "_GRADER_COMPLETE=zsh_complete grader" in script

    def test_answers_with_what_a_command_does(self, person: Person) -> None:
        asked = {"_GRADER_COMPLETE": "zsh_complete", "COMP_WORDS": "grader sta", "COMP_CWORD": "1"}
        lines = person.run(code=None, env=asked).out.splitlines()
        assert lines[:3] == ["plain", "start", "Start a lab: a Kubernetes cluster of its own."]

    @has("zsh")
    def test_script_is_zsh(self, person: Person) -> None:
        (person.home / "grader.zsh").write_text(person.run("completion", "zsh").out)
        in_shell(person, ["zsh", "-f", "-n", "grader.zsh"])

    @has("zsh")
    def test_completes(self, person: Person) -> None:
        # compadd and _describe write on a screen; put in their place, they tell what they were given.
        script = r"""
            autoload -U compinit && compinit -u -D
            eval "$(grader completion zsh)"
            _describe() { local name=$3; [[ $1 == -V ]] && print -l -- ${(P)name}; }
            words=(grader sta) CURRENT=2
            _grader_completion
        """
        offered = in_shell(person, ["zsh", "-f", "-c", script])
        assert [line.partition(":")[0] for line in offered.splitlines()] == ["start", "status"]


class TestFish:
    def test_script_asks_for_completions(self, person: Person) -> None:
        assert "_GRADER_COMPLETE=fish_complete" in person.run("completion", "fish").out

    def test_answers_with_what_a_command_does(self, person: Person) -> None:
        asked = {"_GRADER_COMPLETE": "fish_complete", "COMP_WORDS": "grader sta", "COMP_CWORD": "sta"}
        assert "start" in person.run(code=None, env=asked).out

    @has("fish")
    def test_completes(self, person: Person) -> None:
        (person.home / "grader.fish").write_text(person.run("completion", "fish").out)
        in_shell(person, ["fish", "--no-execute", "grader.fish"])
        offered = in_shell(person, ["fish", "-c", "source grader.fish; complete -C 'grader sta'"])
        assert [line.partition("\t")[0] for line in offered.splitlines()] == ["start", "status"]
