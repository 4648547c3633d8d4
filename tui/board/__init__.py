"""The board on the screen: a lab's cluster as it is now, drawn again where it changed."""

from __future__ import annotations
