"""git: which addresses it may be given, and that nothing of a repository runs when its files are read."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem, UsageProblem
from grader.collections import git
from grader.collections.git import checked_ref, checked_url, is_url
from grader.collections.intake import Limits
from grader.collections.source import Fetched, fetch, origin_of
from tests.unit.collections.conftest import Repository, write_lab

MIB = 1 << 20


def fetched(source: str, tmp_path: Path, ref: str = "", limits: Limits | None = None) -> Fetched:
    scratch = tmp_path / f"scratch-{len(list(tmp_path.iterdir()))}"
    scratch.mkdir()
    return fetch(origin_of(source, ref), scratch, limits or Limits())


class TestAddresses:
    @pytest.mark.parametrize(
        "url",
        [
            "https://example.org/acme/labs.git",
            "https://example.org:8443/labs",
            "ssh://git@example.org/labs",
            "git@example.org:acme/labs.git",
            "file:///srv/labs.git",
        ],
    )
    def test_that_git_may_be_given(self, url: str) -> None:
        assert is_url(url)
        assert checked_url(url) == url

    @pytest.mark.parametrize(
        ("url", "why"),
        [
            ("ext::sh -c touch% /tmp/evil", "is no address"),
            ("ext::sh", "git is not asked over 'ext'"),
            ("EXT::sh", "git is not asked over 'ext'"),
            ("fd::7", "git is not asked over 'fd'"),
            ("file::/srv/x", "git is not asked over 'file'"),
            ("http://example.org/labs", "git is not asked over 'http'"),
            ("git://example.org/labs", "git is not asked over 'git'"),
            ("ftp://example.org/labs", "git is not asked over 'ftp'"),
            ("--upload-pack=touch /tmp/evil", "is no address"),
            ("-x@example.org:labs", "is no address"),
            ("ssh://-oProxyCommand=evil/labs", "is no address"),
            ("ssh://git@-oProxyCommand=evil/labs", "is no address"),
            ("https://example.org/a\nb", "is no address"),
            ("https://example.org/a b", "is no address"),
            ("https://me:secret@example.org/labs", "has a name or password in it"),
            ("https://token@example.org/labs", "has a name or password in it"),
            ("https:///labs", "is no address"),
        ],
    )
    def test_that_it_may_not(self, url: str, why: str) -> None:
        with pytest.raises(UsageProblem, match=why) as raised:
            checked_url(url)
        assert "secret" not in raised.value.message

    @pytest.mark.parametrize("ref", ["main", "v1.2.0", "release/1.x", "a" * 40])
    def test_refs(self, ref: str) -> None:
        assert checked_ref(ref) == ref

    @pytest.mark.parametrize(
        "ref", ["--upload-pack=x", "-x", "a..b", "a:b", "+refs/heads/*", "a b", "x.lock", "", "a" * 300, "a//b", "^x"]
    )
    def test_what_is_no_ref(self, ref: str) -> None:
        with pytest.raises(UsageProblem, match="is no name of a branch, tag or commit"):
            checked_ref(ref)

    def test_the_protocol_is_refused_by_git_too(self, tmp_path: Path) -> None:
        """Should an address ever get past us, as by a redirection."""
        with pytest.raises(UsageProblem, match=r"not allowed|disabled"):
            git._git(["ls-remote", "ext::sh -c touch% evil"], tmp_path, None)
        assert not (tmp_path / "evil").exists()


class TestFetching:
    def test_pins_the_commit(self, repository: Repository, tmp_path: Path) -> None:
        commit = repository.git("rev-parse", "HEAD")
        found = fetched(repository.url, tmp_path)
        assert (found.commit, found.labs) == (commit, ("lab-x",))
        assert (found.tree / "lab-x/lab.md").read_text() == (repository.folder / "labs/lab-x/lab.md").read_text()

    def test_a_branch_a_tag_and_a_commit(self, repository: Repository, tmp_path: Path) -> None:
        first = repository.git("rev-parse", "HEAD")
        repository.git("tag", "--annotate", "--message=one", "v1")
        write_lab(repository.folder / "labs", "lab-y")
        second = repository.commit()
        repository.git("branch", "later")
        assert fetched(repository.url, tmp_path, "v1").commit == first
        assert fetched(repository.url, tmp_path, "later").commit == second
        assert fetched(repository.url, tmp_path, first).labs == ("lab-x",)
        with pytest.raises(UsageProblem, match=r"git can't fetch .*never"):
            fetched(repository.url, tmp_path, "never")

    def test_nothing_of_the_repository_runs(self, repository: Repository, tmp_path: Path) -> None:
        """Hooks, filters, a fsmonitor: each would leave a file."""
        evil = tmp_path / "evil"
        evil.mkdir()
        script = repository.folder / ".git/hooks/post-checkout"
        script.parent.mkdir(exist_ok=True)
        for hook in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "post-index-change"):
            (script.parent / hook).write_text(f"#!/bin/sh\ntouch {evil}/{hook}\n")
            (script.parent / hook).chmod(0o755)
        for name, value in (
            ("filter.evil.smudge", f"touch {evil}/smudge"),
            ("filter.evil.clean", f"touch {evil}/clean; cat"),
            ("filter.evil.required", "true"),
            ("core.fsmonitor", f"touch {evil}/fsmonitor; false"),
            ("diff.evil.textconv", f"touch {evil}/textconv"),
            ("core.sshCommand", f"touch {evil}/ssh"),
            ("uploadpack.packObjectsHook", f"touch {evil}/pack"),
        ):
            repository.git("config", name, value)
        (repository.folder / ".gitattributes").write_text("* filter=evil diff=evil\n")
        (repository.folder / ".gitmodules").write_text(f'[submodule "x"]\npath = x\nurl = ext::touch {evil}/module\n')
        repository.git("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "add", ".gitattributes")
        for left in evil.iterdir():
            left.unlink()
        found = fetched(repository.url, tmp_path)
        by_folder = fetched(str(repository.folder), tmp_path)
        assert found.labs == by_folder.labs == ("lab-x",)
        assert list(evil.iterdir()) == []

    def test_lfs_pointers_stay_pointers_and_attributes_change_nothing(
        self, repository: Repository, tmp_path: Path
    ) -> None:
        (repository.folder / "labs/lab-x/.gitattributes").write_text("*.md export-subst eol=crlf ident\n")
        (repository.folder / "labs/lab-x/note.md").write_text("$Format:%H$ $Id$\n")
        repository.commit()
        assert (fetched(repository.url, tmp_path).tree / "lab-x/note.md").read_bytes() == b"$Format:%H$ $Id$\n"

    def test_a_submodule_is_not_fetched(self, repository: Repository, tmp_path: Path) -> None:
        other = Repository(tmp_path / "other")
        write_lab(other.folder, "lab-other")
        other.commit()
        repository.git("submodule", "--quiet", "add", other.url, "labs/lab-other")
        repository.commit()
        assert fetched(repository.url, tmp_path).labs == ("lab-x",)

    def test_a_link_out_of_the_tree(self, repository: Repository, tmp_path: Path) -> None:
        (repository.folder / "labs/lab-x/passwd").symlink_to("/etc/passwd")
        repository.commit()
        with pytest.raises(UsageProblem, match="labs/lab-x/passwd: a link that leads out of the collection"):
            fetched(repository.url, tmp_path)

    def test_a_tree_with_a_path_that_leads_out(self, repository: Repository, tmp_path: Path) -> None:
        blob = repository.git("hash-object", "-w", "labs/lab-x/lab.md")
        inner = _tree(repository, f"100644 blob {blob}\t..")
        outer = _tree(repository, f"040000 tree {inner}\tlabs")
        commit = repository.git("commit-tree", "-m", "evil", outer)
        repository.git("update-ref", "refs/heads/evil", commit)
        with pytest.raises(UsageProblem, match=r"hasDotdot|'\.\.' in it"):
            fetched(repository.url, tmp_path, "evil")

    def test_a_huge_file(self, repository: Repository, tmp_path: Path) -> None:
        (repository.folder / "labs/lab-x/zeros").write_bytes(bytes(9 * MIB))  # some kilobytes where it is packed
        repository.commit()
        with pytest.raises(UsageProblem, match="labs/lab-x/zeros: larger than 8 MiB"):
            fetched(repository.url, tmp_path)

    def test_a_huge_pack(self, repository: Repository, tmp_path: Path) -> None:
        (repository.folder / "labs/lab-x/noise").write_bytes(os.urandom(2 * MIB))
        repository.commit()
        with pytest.raises(UsageProblem, match="is larger than 1 MiB"):
            fetched(repository.url, tmp_path, limits=Limits(packed=MIB))

    def test_one_that_never_answers(
        self, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        slow = tmp_path / "bin" / "git-upload-pack"
        slow.parent.mkdir()
        slow.write_text("#!/bin/sh\nexec sleep 600\n")
        slow.chmod(0o755)
        monkeypatch.setattr(git, "_command", _with_upload_pack(git._command, slow))
        began = time.monotonic()
        with pytest.raises(EnvironmentProblem, match="git was not done after 1 s"):
            fetched(repository.url, tmp_path, limits=Limits(seconds=1.0))
        assert time.monotonic() - began < 20

    def test_nobody_is_asked_for_a_password(self) -> None:
        environment = git._environment()
        assert environment["GIT_TERMINAL_PROMPT"] == "0"
        assert environment["GIT_ASKPASS"] == environment["SSH_ASKPASS"] == "/bin/false"
        assert "BatchMode=yes" in environment["GIT_SSH_COMMAND"]

    def test_the_callers_own_steering_is_not_passed_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GIT_DIR", "/elsewhere")
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        environment = git._environment()
        assert not {"GIT_DIR", "GIT_CONFIG_COUNT"} & environment.keys()


class TestWorkTree:
    def test_a_clean_one_is_pinned_by_its_commit(self, repository: Repository, tmp_path: Path) -> None:
        commit = repository.git("rev-parse", "HEAD")
        assert fetched(str(repository.folder), tmp_path).commit == commit
        assert fetched(str(repository.folder / "labs"), tmp_path).commit == commit, "a folder of it, too"
        assert fetched(str(repository.folder), tmp_path).digest == fetched(repository.url, tmp_path).digest

    @pytest.mark.parametrize("change", ["edited", "new", "deleted"])
    def test_another_one_by_its_content_alone(self, repository: Repository, tmp_path: Path, change: str) -> None:
        lab = repository.folder / "labs/lab-x"
        (lab / "README.md").write_text("about it")
        repository.commit()
        match change:
            case "edited":
                (lab / "README.md").write_text("about that")
            case "new":
                (lab / "more.md").write_text("more")
            case _:
                (lab / "README.md").unlink()
        assert fetched(str(repository.folder), tmp_path).commit == ""

    def test_what_is_left_out_does_not_count(self, repository: Repository, tmp_path: Path) -> None:
        commit = repository.git("rev-parse", "HEAD")
        (repository.folder / ".idea").mkdir()
        (repository.folder / ".idea/x").write_text("x")
        assert fetched(str(repository.folder), tmp_path).commit == commit


def _tree(repository: Repository, line: str) -> str:
    done = subprocess.run(
        ["git", "mktree", "--missing"],
        cwd=repository.folder,
        input=line + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"this git makes no such tree: {done.stderr}")
    return done.stdout.strip()


def _with_upload_pack(command: object, program: Path) -> object:
    assert callable(command)

    def changed(words: list[str]) -> object:
        words = [*words[:1], f"--upload-pack={program}", *words[1:]] if words[0] == "fetch" else words
        return command(words)

    return changed
