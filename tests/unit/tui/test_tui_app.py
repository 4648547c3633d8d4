"""What belongs to no single screen: keys, help, language, colours, the size of the terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.color import Color

from cluster import i18n
from tests.unit.tui.conftest import Drive, Played
from tui.keymap import FILE, read_keymap
from tui.keys import EVERYWHERE, KEYS, PLACES, displayed
from tui.settings import Settings, config_dir, load_settings, save_settings
from tui.themes import NAMES, THEMES


class TestKeys:
    def test_each_has_an_id_of_its_own(self) -> None:
        ids = [key.id for keys in KEYS.values() for key in keys]
        assert len(ids) == len(set(ids))
        assert set(KEYS) == set(PLACES)

    @pytest.mark.parametrize("place", [place for place in KEYS if place != EVERYWHERE])
    def test_no_key_means_two_things_in_one_place(self, place: str) -> None:
        keys = [one for key in (*KEYS[place], *KEYS[EVERYWHERE]) for one in key.keys.split(",")]
        assert sorted(keys) == sorted(set(keys))

    def test_none_is_taken_by_tmux_or_browsers(self) -> None:
        taken = {"ctrl+b", "ctrl+n", "ctrl+t", "ctrl+w"}
        assert {one for keys in KEYS.values() for key in keys for one in key.keys.split(",")} & taken == set()

    def test_are_shown_as_people_write_them(self) -> None:
        assert displayed("ctrl+p,colon") == "^p :"
        assert displayed("question_mark,f1") == "? f1"

    def test_a_file_changes_them(self, tmp_path: Path) -> None:
        (tmp_path / FILE).write_text("quit: ctrl+x, f10\n")
        assert read_keymap(tmp_path / FILE) == ({"quit": "ctrl+x,f10"}, [])

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("qiut: q\n", "2:1: no key is called 'qiut' (did you mean 'quit'?)"),
            ("xyzzy: q\n", "2:1: no key is called 'xyzzy'; allowed: help, palette, "),
            (
                "report.qqqqqqqqqqqq: q\n",
                "2:1: no key is called 'report.qqqqqqqqqqqq'; allowed: report.open, report.down, ",
            ),
            ("quit: hyper+q\n", "2:7: quit: 'hyper+q' is no key"),
            ("quit: f1, entr\n", "2:7: quit: 'entr' is no key (did you mean 'enter'?)"),
            ("quit:\n", "2:6: quit: a key is wanted"),
            ("quit: f8\nquit: f9\n", "3:1: duplicate key 'quit' (first on line 2)"),
            ("lab.check: h\n", "2:12: lab.check: 'h' is the key of lab.hint already"),
            ("quit: h\n", "2:7: quit: 'h' is the key of lab.hint already"),
            ("lab.check: q\n", "2:12: lab.check: 'q' is the key of quit already"),
            ("[quit\n", "not YAML"),
        ],
    )
    def test_a_wrong_line_is_said_with_its_place_and_left_out(self, tmp_path: Path, text: str, said: str) -> None:
        path = tmp_path / FILE
        path.write_text("help: f1\n" + text)
        found, wrong = read_keymap(path)
        assert wrong
        assert said in wrong[0]
        assert wrong[0].startswith(f"{path}:")
        assert found.get("help", "f1") == "f1"
        assert set(found) <= {"help", "quit"}
        assert "h" not in found.values()

    @pytest.mark.parametrize("text", ["quit\n", "- quit\n", "12\n"])
    def test_a_file_of_another_form_is_said(self, tmp_path: Path, text: str) -> None:
        (tmp_path / FILE).write_text(text)
        found, wrong = read_keymap(tmp_path / FILE)
        assert found == {}
        assert wrong == [f"{tmp_path / FILE}:1:1: lines of the form `quit: ctrl+x` are wanted"]

    @pytest.mark.parametrize(
        ("text", "keys"),
        [
            ("quit: [f9, F10]\n", {"quit": "f9,f10"}),
            ("help: '?'\n", {"help": "question_mark"}),
            ("quit: Ctrl+X\n", {"quit": "ctrl+x"}),
            ("lab.back: esc\n", {"lab.back": "escape"}),
            ("quit: shift+ctrl+f5\n", {"quit": "ctrl+shift+f5"}),
            ("board.pane1: 9\n", {"board.pane1": "9"}),
            ("lab.check: ctrl++\n", {"lab.check": "ctrl+plus"}),
            ("lab.hint: c\nlab.check: h\n", {"lab.hint": "c", "lab.check": "h"}),
            ("# nothing yet\n", {}),
            ("", {}),
        ],
    )
    def test_keys_are_written_as_people_do(self, tmp_path: Path, text: str, keys: dict[str, str]) -> None:
        (tmp_path / FILE).write_text(text)
        assert read_keymap(tmp_path / FILE) == (keys, [])

    def test_one_line_left_out_gives_its_keys_back(self, tmp_path: Path) -> None:
        """`lab.hint` keeps `h`, because its own line can't be followed, and so nothing else may have it."""
        (tmp_path / FILE).write_text("lab.check: h\nlab.hint: n\n")
        found, wrong = read_keymap(tmp_path / FILE)
        assert found == {}
        assert [line.partition(FILE)[2] for line in wrong] == [
            ":1:12: lab.check: 'h' is the key of lab.hint already",
            ":2:11: lab.hint: 'n' is the key of lab.next already",
        ]

    def test_no_file_changes_nothing(self, tmp_path: Path) -> None:
        assert read_keymap(tmp_path / FILE) == ({}, [])

    def test_changed_ones_work_and_are_shown(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await played.shows("^g help")
            await played.press("ctrl+g")
            await played.shows("Everywhere")
            assert "^g" in played.text

        drive_with_keys(drive, play, "help: ctrl+g\n")


def drive_with_keys(drive: Drive, play: object, text: str) -> None:
    folder = config_dir()
    folder.mkdir(parents=True)
    (folder / FILE).write_text(text)
    drive(play)


class TestHelp:
    def test_names_every_key_of_the_screen(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await played.press("question_mark")
            for key in (*KEYS["catalogue"], *KEYS[EVERYWHERE]):
                assert key.help in played.text
            await played.press("escape")
            assert "Everywhere" not in played.text

        drive(play, size=(100, 40))


class TestLanguage:
    def test_changes_while_the_program_runs(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            assert "to do" in played.text
            await played.press("L")
            await played.shows("운명을 같이하는 파드들")
            assert "search" not in played.text
            await played.press("L")
            await played.shows("Groups with one fate")
            assert not re.search("[가-힣]", played.text)

        drive(play)

    def test_is_remembered(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await played.press("L")
            await played.shows("운명을")
            assert load_settings(config_dir()).language == "ko"

        drive(play)


class TestColours:
    def test_go_round(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            seen = []
            for _theme in NAMES:
                seen.append(played.app.theme)
                await played.press("T")
            assert seen == list(NAMES)
            assert played.app.theme == "dark"
            assert load_settings(config_dir()).theme == "dark"

        drive(play)

    @pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
    @pytest.mark.parametrize("colour", ["foreground", "primary", "success", "warning", "error", "muted"])
    def test_can_be_read(self, theme: object, colour: str) -> None:
        """Contrast against the background of at least 4.5 to 1 (WCAG AA); 7 to 1 where it is promised."""
        chosen = getattr(theme, colour, None) or theme.variables[colour]  # type: ignore[attr-defined]
        background = theme.background  # type: ignore[attr-defined]
        least = 7.0 if theme.name == "high-contrast" else 4.5  # type: ignore[attr-defined]
        assert _contrast(Color.parse(chosen), Color.parse(background)) >= least

    def test_settings_survive_nonsense(self, tmp_path: Path) -> None:
        save_settings(tmp_path, Settings(theme="light", language="ko"))
        assert load_settings(tmp_path) == Settings(theme="light", language="ko")
        for text in ("", "[]", '{"theme": "pink", "language": "xx"}'):
            (tmp_path / "tui.json").write_text(text)
            assert load_settings(tmp_path) == Settings()


def _contrast(one: Color, other: Color) -> float:
    def luminance(colour: Color) -> float:
        parts = [value / 255 for value in (colour.r, colour.g, colour.b)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


class TestSize:
    def test_too_small_a_terminal_is_said(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await played.pilot.resize_terminal(38, 10)
            await played.shows("too small")
            await played.pilot.resize_terminal(80, 24)
            await played.shows("LeaderWorkerSet")
            assert "too small" not in played.text

        drive(play)

    @pytest.mark.parametrize("width", [40, 60, 79, 99, 100, 200])
    def test_no_line_is_too_long(self, drive: Drive, width: int) -> None:
        async def play(played: Played) -> None:
            await played.pilot.resize_terminal(width, 24)
            await played.rest()
            assert "done" in played.text

        drive(play, language="en")

    def test_palette_speaks(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await played.press("ctrl+p")
            await played.shows("Language: English")

        drive(play, language="ko")
        assert i18n.language() == "en"


def test_the_page_names_every_key() -> None:
    """`docs/tui.md` ends with a table of them: what a person may write into `keys.yaml`."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "tui.md").read_text(encoding="utf-8")
    table = page.partition("<!-- keys -->")[2].strip().splitlines()[2:]
    wanted = [
        f"| `{key.id}` | {' '.join(f'`{one}`' for one in displayed(key.keys).split())} | {key.help} |"
        for keys in KEYS.values()
        for key in keys
    ]
    assert table == wanted
