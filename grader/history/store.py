"""The history as others use it: one place to import from.

Owns nothing itself: see model (what), schema (file), writer and reader.
"""

from __future__ import annotations

from grader.history.model import EVERY_KIND, Change, Gap, Mark
from grader.history.reader import HistoryReader
from grader.history.writer import HistoryWriter

__all__ = ["EVERY_KIND", "Change", "Gap", "HistoryReader", "HistoryWriter", "Mark"]
