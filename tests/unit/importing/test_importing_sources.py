"""Sources that are broken, hostile, or merely strange: each is refused or told, and nothing outside is touched."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.errors import UsageProblem
from grader.importing import tree as trees
from grader.importing.ledger import Outcome
from grader.importing.places import MalformedError, read_json, shown
from grader.importing.tree import Tree, UnreadableError
from tests.unit.importing.conftest import Result, Scenario

UNMAPPED, APPROXIMATED = Outcome.UNMAPPED, Outcome.APPROXIMATED


def index(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.json").write_text(text)
    return folder


class TestJson:
    """JSON with places."""

    def test_values_and_lines(self) -> None:
        found = read_json('{\n\t"a": [1, -2.5e1,\n "x\\u00e9\\n", true, null],\n"b": {"c": ""}\n}')
        assert found.value == {"a": [1, -25.0, "xé\n", True, None], "b": {"c": ""}}
        assert [found.line(pointer) for pointer in [(), ("a",), ("a", 2), ("b", "c"), ("b", "c", "d")]] == [
            1,
            2,
            3,
            4,
            4,
        ]
        assert list(map(shown, found.leaves())) == ["a[0]", "a[1]", "a[2]", "a[3]", "a[4]", "b.c"]

    @pytest.mark.parametrize(
        ("text", "line", "column", "message"),
        [
            ('{"a": 1,}', 1, 8, "a ',' with nothing after it"),
            ("[1, 2,]", 1, 6, "a ',' with nothing after it"),
            ('{"a" 1}', 1, 6, "a ':' is wanted here"),
            ("{a: 1}", 1, 2, "a key in double quotes is wanted here"),
            ('{"a": 1\n "b": 2}', 2, 2, "a ',' or '}' is wanted here"),
            ('{"a":\n  nope}', 2, 3, "a value is wanted here"),
            ('{"a": "x', 1, 7, "a text that is not well formed"),
            ('{"a": "\\q"}', 1, 8, "a text that is not well formed"),
            ("{} {}", 1, 4, "something follows the end of the document"),
            ("", 1, 1, "a value is wanted here"),
            ("// x\n{}", 1, 1, "a value is wanted here"),
            ("[" * 70 + "]" * 70, 1, 66, "nested deeper than 64 levels"),
        ],
    )
    def test_what_is_wrong_and_where(self, text: str, line: int, column: int, message: str) -> None:
        with pytest.raises(MalformedError) as raised:
            read_json(text)
        assert (raised.value.line, raised.value.column) == (line, column)
        assert raised.value.message == f"not JSON: {message}"

    def test_a_key_that_stands_twice(self) -> None:
        found = read_json('{"a": 1, "b": {"c": 1, "c": 2}}')
        assert (found.value["b"]["c"], found.repeated) == (2, (("b", "c"),))

    def test_a_large_document_takes_no_time_worth_speaking_of(self) -> None:
        text = "[\n" + ",\n".join(str(number) for number in range(60_000)) + "\n]"
        assert read_json(text).line((59_999,)) == 60_001

    def test_half_a_surrogate_pair_is_no_character(self) -> None:
        assert read_json('"a\\ud800b"').value == "a?b"


class TestTree:
    """Files are read inside the source only."""

    @pytest.fixture
    def tree(self, tmp_path: Path) -> Tree:
        (tmp_path / "secret.txt").write_text("secret")
        (tmp_path / "source" / "a").mkdir(parents=True)
        return Tree(tmp_path / "source")

    @pytest.mark.parametrize(
        "name", ["../secret.txt", "a/../../secret.txt", "/etc/passwd", "~/x", "..", "a\0b", " ", "..\\x"]
    )
    def test_names_that_lead_out(self, tree: Tree, name: str) -> None:
        with pytest.raises(UnreadableError):
            tree.join("", name)

    def test_names_inside(self, tree: Tree) -> None:
        assert tree.join("a/b", "../c.md") == "a/c.md"
        assert tree.join("a", "./b/./c.md ") == "a/b/c.md"

    def test_links_are_not_followed(self, tree: Tree, tmp_path: Path) -> None:
        (tree.root / "link").symlink_to(tmp_path / "secret.txt")
        (tree.root / "folder").symlink_to(tmp_path)
        for name in ("link", "folder/secret.txt"):
            with pytest.raises(UnreadableError, match="links are not followed"):
                tree.text(name)
        assert tree.files() == ["folder", "link"], "they are told of, and not walked into"

    def test_what_is_no_file(self, tree: Tree) -> None:
        os.mkfifo(tree.root / "pipe")
        for name, why in (("pipe", "is not a file"), ("a", "is not a file"), ("none", "is missing")):
            with pytest.raises(UnreadableError, match=why):
                tree.text(name)

    def test_what_is_too_large(self, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
        (tree.root / "big").write_bytes(b"x" * (trees.MOST_TEXT + 1))
        with pytest.raises(UnreadableError, match="is larger than 1 MiB"):
            tree.text("big")
        assert len(tree.data("big")) == trees.MOST_TEXT + 1
        monkeypatch.setattr(trees, "MOST_FILES", 1)
        (tree.root / "small").touch()
        with pytest.raises(UnreadableError, match="more than 1 files"):
            tree.files()

    def test_bytes_that_are_no_text(self, tree: Tree) -> None:
        (tree.root / "latin").write_bytes(b"Caf\xe9\r\nx\r")
        (tree.root / "bom").write_bytes(b"\xef\xbb\xbfx")
        (tree.root / "nul").write_bytes(b"a\0b")
        assert (tree.text("latin").text, tree.text("latin").guessed) == ("Café\nx\n", True)
        assert (tree.text("bom").text, tree.text("bom").guessed) == ("x", False)
        with pytest.raises(UnreadableError, match="NUL"):
            tree.text("nul")


class TestBroken:
    """What can't be read is told with its place, and does not keep the rest from being converted."""

    def test_an_index_that_is_no_json(self, tmp_path: Path, convert: Callable[..., Result]) -> None:
        index(tmp_path / "s" / "bad", '{\n  "details": {"steps": [],}\n}')
        index(tmp_path / "s" / "good", '{"title": "Good", "details": {"intro": {}}}')
        result = convert(tmp_path / "s")
        assert list(map(str, result.done.broken)) == ["bad/index.json:2:26: not JSON: a ',' with nothing after it"]
        assert ([one.lab.id for one in result.done.labs], result.done.good) == (["good"], False)

    def test_details_that_are_no_mapping(self, tmp_path: Path, convert: Callable[..., Result]) -> None:
        result = convert(index(tmp_path / "s", '{"details": []}'))
        assert "'details' must be a mapping" in str(result.done.broken[0])

    def test_nothing_to_convert(self, tmp_path: Path, convert: Callable[..., Result]) -> None:
        (tmp_path / "s").mkdir()
        (tmp_path / "s" / "index.json").write_text('{"name": "some other program\'s"}')
        with pytest.raises(UsageProblem, match="is a scenario or a challenge"):
            convert(tmp_path / "s")
        with pytest.raises(UsageProblem, match="there is no"):
            convert(tmp_path / "none")

    def test_front_matter_that_is_no_yaml(self, tmp_path: Path, convert: Callable[..., Result]) -> None:
        (tmp_path / "index.md").write_text("---\nkind: challenge\ntitle: a: b\n---\nText.\n")
        [broken] = convert(tmp_path / "index.md").done.broken
        assert str(broken).startswith("index.md:3:9: not YAML: ")

    def test_files_that_are_missing(self, scenario: Scenario) -> None:
        result = scenario(step={"text": "none.md", "verify": "../../out.sh", "background": "/etc/passwd"})
        told = result.told(UNMAPPED)
        assert "one/index.json:7 details.steps[0].text: none.md: the file is missing" in told
        assert "one/index.json:8 details.steps[0].verify: ../../out.sh: the file leads out of the source" in told
        [other] = [line for line in told if "background" in line]
        assert other.endswith("is a path of a machine, not of the source")
        assert result.lint == []

    def test_values_of_another_kind(self, scenario: Scenario) -> None:
        told = scenario(title=["x"], step={"verify": 3}).told(UNMAPPED)
        assert any(line.endswith("title: must be text") for line in told)
        assert any(line.endswith("details.steps[0].verify: must be text") for line in told)

    def test_no_step_without_a_title_or_words(self, scenario: Scenario) -> None:
        result = scenario("", step={"title": ""})
        assert "## Step 1 {#step-1}" in result.text("one")
        assert result.lint == []

    def test_a_title_twice(self, scenario: Scenario) -> None:
        steps = [{"title": "Same", "text": "step.md"}, {"title": "Same", "text": "step.md"}]
        result = scenario(details={"steps": steps})
        assert "{#same-2}" in result.text("one")
        assert result.lint == []

    def test_a_picture_by_a_link(self, scenario: Scenario, tmp_path: Path) -> None:
        (tmp_path / "source" / "one").mkdir(parents=True)
        (tmp_path / "secret.png").write_bytes(b"secret")
        (tmp_path / "source" / "one" / "p.png").symlink_to(tmp_path / "secret.png")
        (tmp_path / "source" / "one").rename(tmp_path / "kept")
        result = scenario("![x](p.png) ![y](../../../secret.png)\n")
        assert not (result.to / "one" / "assets").exists()
        told = result.told(UNMAPPED)
        assert any("the picture is missing" in line for line in told)
        assert any("the picture leads out of the source" in line for line in told)


class TestWriting:
    """A lab is written whole, and never over another."""

    def test_a_folder_that_is_there(self, scenario: Scenario, tmp_path: Path) -> None:
        there = tmp_path / "labs" / "one"
        there.mkdir(parents=True)
        (there / "mine.txt").write_text("mine")
        result = scenario()
        [one] = result.done.labs
        assert (one.written, "exists already" in one.problem, result.done.good) == (False, True, False)
        assert sorted(path.name for path in there.iterdir()) == ["mine.txt"]

    def test_by_force_it_is_kept_aside(
        self, scenario: Scenario, tmp_path: Path, convert: Callable[..., Result]
    ) -> None:
        scenario()
        (tmp_path / "labs" / "one" / "mine.txt").write_text("mine")
        [one] = convert(tmp_path / "source", force=True).done.labs
        assert one.kept is not None
        assert ((one.kept / "mine.txt").read_text(), (one.folder / "lab.md").exists()) == ("mine", True)
        assert not (one.folder / "mine.txt").exists()
        assert sorted(path.name for path in (tmp_path / "labs").iterdir()) == sorted([one.kept.name, "one"])

    def test_two_of_the_same_name(self, tmp_path: Path, convert: Callable[..., Result]) -> None:
        for name in ("a/x", "b/x"):
            index(tmp_path / "s" / name, json.dumps({"title": name, "details": {}}))
        assert [one.lab.id for one in convert(tmp_path / "s").done.labs] == ["x", "x-2"]

    def test_text_that_means_something_to_yaml_or_jinja(self, scenario: Scenario) -> None:
        result = scenario("`{{ .Values.x }}` and {% raw %}\n", title='{{ "a": yes }} # no', step={"title": "on: {#x}"})
        assert result.lint == []
        assert result.done.labs[0].lab.title == '{{ "a": yes }} # no'
        assert "`{{ .Values.x }}` and {% raw %}" in result.text("one")
