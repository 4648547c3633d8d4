"""What the application remembers from one time to the next: colours and language.

Owns `$XDG_CONFIG_HOME/batchlab/tui.json`. A file that can't be read or written costs nothing but the memory.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from cluster import i18n

FILE = "tui.json"
THEMES = ("dark", "light", "high-contrast", "colour-blind")
"""What the colours are called, without importing what draws them."""


def config_dir() -> Path:
    """`$XDG_CONFIG_HOME/batchlab`: what a person has set; may not exist."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "batchlab"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`language` is "" where the locale decides."""

    theme: str = "dark"
    language: str = ""


def load_settings(folder: Path) -> Settings:
    """What is kept in `folder`; the defaults where nothing, or nothing sensible, is."""
    try:
        stored = json.loads((folder / FILE).read_text(encoding="utf-8"))
        found = Settings(theme=str(stored.get("theme", "")), language=str(stored.get("language", "")))
    except (OSError, ValueError, AttributeError):
        return Settings()
    if found.theme not in THEMES:
        found = replace(found, theme="dark")
    return found if found.language in i18n.LANGUAGES else replace(found, language="")


def save_settings(folder: Path, settings: Settings) -> None:
    """Keep them, if the folder can be written."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{FILE}.{os.getpid()}"
        temporary.write_text(json.dumps(asdict(settings)) + "\n", encoding="utf-8")
        temporary.replace(folder / FILE)
