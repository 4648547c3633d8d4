"""The colours: dark, light, high contrast, and one that colour-blind people tell apart (blue and orange).

Owns the themes and their names. Colour is never the only sign of anything.
"""

from __future__ import annotations

from textual.theme import Theme

from grader.cli.commands import N_

THEMES = (
    Theme(
        name="dark",
        primary="#7aa2f7",
        secondary="#9ece6a",
        accent="#e0af68",
        foreground="#d5d9e4",
        background="#16181f",
        surface="#1c1f28",
        panel="#262a36",
        success="#9ece6a",
        warning="#e0af68",
        error="#f7768e",
        dark=True,
        variables={"border": "#3b4261", "muted": "#8b92a8", "footer-key-foreground": "#7aa2f7"},
    ),
    Theme(
        name="light",
        primary="#1f5fbf",
        secondary="#2f7d32",
        accent="#9a5b00",
        foreground="#1d2129",
        background="#fafafa",
        surface="#f1f2f4",
        panel="#e4e6ea",
        success="#2a7a2e",
        warning="#8f5600",
        error="#b3261e",
        dark=False,
        variables={"border": "#b8bdc7", "muted": "#5b6270", "footer-key-foreground": "#1f5fbf"},
    ),
    Theme(
        name="high-contrast",
        primary="#ffff00",
        secondary="#00ffff",
        accent="#ffff00",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#1a1a1a",
        success="#00ff5f",
        warning="#ffff00",
        error="#ff5f5f",
        dark=True,
        variables={"border": "#ffffff", "muted": "#dddddd", "footer-key-foreground": "#ffff00"},
    ),
    Theme(
        name="colour-blind",
        primary="#56b4e9",
        secondary="#56b4e9",
        accent="#e69f00",
        foreground="#e4e6eb",
        background="#14161b",
        surface="#1b1e25",
        panel="#272b34",
        success="#56b4e9",
        warning="#f0e442",
        error="#e69f00",
        dark=True,
        variables={"border": "#4a5060", "muted": "#9aa1b1", "footer-key-foreground": "#56b4e9"},
    ),
)
NAMES = {
    "dark": N_("dark"),
    "light": N_("light"),
    "high-contrast": N_("high contrast"),
    "colour-blind": N_("for colour-blind eyes: blue and orange"),
}
"""Theme → how it is called."""
