"""The timeline on the screen: what happened in a lab, with a cursor that tells what was when."""

from __future__ import annotations
