"""What a run of checks looks like: text for a learner, JSON for programs, JUnit for CI, progress over labs.

Owns every format of a verdict; knows nothing of how a check works or who asked. Nothing here prints.
"""

from __future__ import annotations

from grader.report.json import render_json
from grader.report.junit import render_junit
from grader.report.layout import colours, width_of
from grader.report.model import CheckReport, RunReport, StepReport, make_report
from grader.report.progress_report import (
    Row,
    progress_rows,
    render_progress,
    render_progress_csv,
    render_progress_json,
)
from grader.report.text import render_text, state_word, step_line

__all__ = [
    "CheckReport",
    "Row",
    "RunReport",
    "StepReport",
    "colours",
    "make_report",
    "progress_rows",
    "render_json",
    "render_junit",
    "render_progress",
    "render_progress_csv",
    "render_progress_json",
    "render_text",
    "state_word",
    "step_line",
    "width_of",
]
