"""The rules that hold for every file: who may import whom, how long a module is, what must be documented.

The catalogs of messages are held by `test_messages`, the keys of checks by `test_checks_schema`, those of lab
files by `test_lab_authoring_guide`, the JSON documents by `test_report_docs`.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from grader.cli.root import grader as root
from grader.lab.catalogue import lab_ids, labs_dir, load_lab
from grader.lab.model import Lab
from grader.lab.parse import LAB_FILE

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cluster", "grader", "tui")
LONGEST = 500
HANGUL = re.compile("[가-힣]")
PAUSE = "sleep"
"""In two parts where it is looked for, so that this file has none."""
REGISTRIES = re.compile(
    r"pypi\.org|files\.pythonhosted|(proxy|sum)\.golang|deb\.debian|registry\.npmjs|(index-url|GOPROXY)\W+https?:"
)
FOREIGN = tuple(ROOT / "tests" / folder / "imports" for folder in ("data", "golden"))
"""Sources in the words of other platforms, whose machines have such paths, and what is told of them."""
MACHINE_PATH = re.compile(r"(?<![\w.~…}\])>])/(?:root|work|Users)/[\w.]")


def _tracked() -> list[Path]:
    """Every file that is, or would be, in the repository."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("which files are tracked is known to git only")
    line = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def _modules(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _imports(path: Path) -> set[str]:
    """Top-level names of everything that a module may import, at any depth, for types too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                found |= {alias.name.partition(".")[0] for alias in node.names}
            case ast.ImportFrom():
                found.add((node.module or "").partition(".")[0])
    return found


class TestImports:
    @pytest.mark.parametrize(
        ("package", "never"), [("cluster", {"grader", "tui", "textual"}), ("grader", {"tui", "textual"})]
    )
    def test_nothing_names_what_it_must_not_know(self, package: str, never: set[str]) -> None:
        assert {_name(path): found for path in _modules(package) if (found := _imports(path) & never)} == {}

    @pytest.mark.parametrize(
        ("package", "never"), [("cluster", ["grader", "tui", "textual"]), ("grader", ["tui", "textual"])]
    )
    def test_nothing_is_loaded_by_way_of_others(self, package: str, never: list[str]) -> None:
        program = (
            "import importlib, pkgutil, sys\n"
            f"import {package} as top\n"
            "names = [found.name for found in pkgutil.walk_packages(top.__path__, top.__name__ + '.')]\n"
            "for name in names: importlib.import_module(name)\n"
            f"print(len(names), *[name for name in {never!r} if name in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        count, *loaded = done.stdout.split()
        assert int(count) > 20
        assert loaded == []

    def test_are_absolute(self) -> None:
        relative = {
            _name(path)
            for path in _modules(*PACKAGES, "tests")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and node.level
        }
        assert relative == set()


class TestModules:
    def test_are_short(self) -> None:
        lengths = {
            _name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in _modules(*PACKAGES, "tests")
        }
        assert {name: length for name, length in lengths.items() if length > LONGEST} == {}

    def test_say_what_they_own(self) -> None:
        silent = {
            _name(path)
            for path in _modules(*PACKAGES, "tests")
            if path.read_text(encoding="utf-8").strip()
            and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        }
        assert silent == set()

    def test_names_of_test_files_are_unique(self) -> None:
        names = [path.name for path in _modules("tests") if path.name.startswith("test_")]
        assert sorted(names) == sorted(set(names))

    def test_nobody_waits_for_a_fixed_time(self) -> None:
        """Tests, checks and labs wait for a condition with a deadline."""
        call = re.compile(rf"\b{PAUSE}\(")
        folders = [ROOT / "tests", ROOT / "grader" / "checks", ROOT / "labs"]
        files = [path for path in _tracked() if any(folder in path.parents for folder in folders)]
        assert [_name(path) for path in files if call.search(path.read_text(encoding="utf-8", errors="replace"))] == []


class TestFiles:
    @pytest.mark.parametrize("pattern", [REGISTRIES, MACHINE_PATH], ids=["registries", "paths of one machine"])
    def test_name_nothing_of_where_they_were_written(self, pattern: re.Pattern[str]) -> None:
        found = []
        for path in _tracked():
            if path.name in ("go.sum", "go.mod") or path == Path(__file__) or any(map(path.is_relative_to, FOREIGN)):
                continue
            text = path.read_bytes().decode("utf-8", errors="replace")
            found += [f"{_name(path)}: {match[0]}" for match in pattern.finditer(text)]
        assert found == []

    @pytest.mark.parametrize("text", ["cd /root/x", "'/work/main/a'", '"/Users/me"'])
    def test_a_path_of_one_machine_is_seen(self, text: str) -> None:
        assert MACHINE_PATH.search(text)

    @pytest.mark.parametrize("text", ["~/work/a", "/proc/1/root/run", "…/work/", "{home}/work/x", "https://a.b/root/x"])
    def test_other_paths_are_let_be(self, text: str) -> None:
        assert not MACHINE_PATH.search(text)


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(command)
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None, name
        yield from _commands(found, f"{path} {name}")


COMMANDS = dict(_commands(root, "grader"))


class TestDocumentation:
    @staticmethod
    def pages() -> str:
        return "\n".join(
            path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
        )

    @pytest.mark.parametrize("command", COMMANDS)
    def test_names_every_command(self, command: str) -> None:
        assert re.search(rf"\b{command}\b", self.pages()), "in README.md or docs/"

    def test_every_command_has_help(self) -> None:
        assert {name for name, command in COMMANDS.items() if not command.help} == set()

    def test_names_every_target_of_the_makefile(self) -> None:
        text = (ROOT / "Makefile").read_text(encoding="utf-8")
        targets = set(re.findall(r"^([a-z][a-z-]*):(?!=)", text, re.MULTILINE))
        helped = set(re.findall(r"^([a-z][a-z-]*):.* ## \S", text, re.MULTILINE))
        phony = set((re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE) or [""])[1].split())
        assert targets == helped, "each says what it does, for `make help`"
        assert targets == phony
        pages = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
        assert {
            target for target in targets if f"`make {target}`" not in pages and f"make {target}\n" not in pages
        } == set()

    def test_links_between_pages_lead_somewhere(self) -> None:
        pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
        link = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
        links = [(page, target) for page in pages for target in link.findall(page.read_text(encoding="utf-8"))]
        assert links
        local = [(page, target) for page, target in links if not re.match(r"\w+:", target)]
        assert [f"{_name(page)}: {target}" for page, target in local if not (page.parent / target).exists()] == []


class TestKorean:
    @pytest.mark.parametrize("lab_id", lab_ids())
    def test_of_a_lab_is_whole(self, lab_id: str) -> None:
        english, korean = load_lab(lab_id, "en"), load_lab(lab_id, "ko")
        assert (labs_dir() / lab_id / LAB_FILE.replace(".md", ".ko.md")).is_file()
        assert korean.language == "ko"
        assert [step.id for step in korean.steps] == [step.id for step in english.steps]
        # A hint may be nothing but a command.
        wordless = {name for name, text in self.words(english).items() if not re.search("[A-Za-z]", self.prose(text))}
        assert {name for name, text in self.words(korean).items() if not HANGUL.search(text)} - wordless == set()
        assert [len(step.hints) for step in korean.steps] == [len(step.hints) for step in english.steps]

    @staticmethod
    def prose(text: str) -> str:
        """Without code."""
        return re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)

    @staticmethod
    def words(lab: Lab) -> dict[str, str]:
        """Everything of a lab that a learner reads."""
        words = {"title": lab.title, "intro": lab.intro}
        for step in lab.steps:
            words |= {f"{step.id}: title": step.title, f"{step.id}: body": step.body}
            words |= {f"{check.id}: says": check.says for check in step.checks}
            words |= {f"{step.id}: hint {number}": hint.text for number, hint in enumerate(step.hints, 1)}
        return words

    def test_of_an_article_is_there(self) -> None:
        articles = {path.name for path in (ROOT / "content" / "articles").glob("*.md")}
        english = {name for name in articles if not name.endswith(".ko.md")}
        assert {name for name in english if name.replace(".md", ".ko.md") not in articles} == set()
        assert {name for name in articles - english if name.replace(".ko.md", ".md") not in english} == set()
        for name in articles - english:
            prose = re.sub(
                r"^```.*?^```",
                "",
                (ROOT / "content" / "articles" / name).read_text(encoding="utf-8"),
                flags=re.S | re.M,
            )
            titles = re.findall(r"^#+ (.*?)(?: \{#.*)?$", prose, re.MULTILINE)
            assert HANGUL.search(prose), name
            assert [title for title in titles if not HANGUL.search(title)] == [], name
