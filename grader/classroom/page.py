"""A class as one HTML page: no script, nothing from elsewhere, readable on paper.

Owns its layout. Everything that comes from a report is escaped: a learner's name is whatever somebody wrote.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Final

from cluster.i18n import _, language
from grader.classroom.forms import day, looks, stops, summary
from grader.report.layout import one_line
from grader.report.progress_report import duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grader.classroom.figures import LabFigures, Row, StepFigures
    from grader.classroom.reading import Class

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8885; --soft: #8882; --good: #2f9e78; --open: #c8441b; }
body { font: 15px/1.45 system-ui, "Noto Sans KR", sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; } h3 { font-size: 1rem; margin-top: 1.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .5rem; text-align: left; vertical-align: top; }
th { font-weight: 600; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td.m, th.m { text-align: center; padding: .25rem .1rem; } tr.done td:first-child { font-weight: 600; }
.yes { color: var(--good); } .here { color: var(--open); font-weight: 700; }
.bar { background: var(--soft); height: .8rem; position: relative; min-width: 8rem; }
.bar i { background: var(--good); display: block; height: 100%; } .hard td { font-weight: 700; }
.note { color: GrayText; } li { overflow-wrap: anywhere; }
@media print {
  body { font-size: 10px; margin: 0; max-width: none; }
  h2 { break-before: page; } h2:first-of-type { break-before: auto; }
  tr, li { break-inside: avoid; } thead { display: table-header-group; }
  .bar, .bar i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def render_page(found: Class, labs: Sequence[LabFigures], odd: Sequence[str], at: float) -> str:
    """The whole page, in the language in force."""
    title = _("The class, {time}").format(time=day(at))
    parts = [
        "<!doctype html>",
        f'<html lang="{language()}">',
        '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
        # Should something ever get past the escaping, no browser runs or loads it.
        """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">""",
        f"<title>{_e(title)}</title><style>{_STYLE}</style></head>",
        f"<body><h1>{_e(title)}</h1><p>{_e(summary(found, labs))}</p>",
    ]
    for lab in labs:
        parts += _lab(lab)
    for heading, items in looks(found, odd):
        parts += [f"<h2>{_e(heading)}</h2><ul>", *(f"<li>{_e(item)}</li>" for item in items), "</ul>"]
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _lab(lab: LabFigures) -> Iterable[str]:
    name = f"{lab.title} ({lab.lab})" if lab.title else lab.lab
    done = _("{done} of {all} have finished").format(done=lab.finished, all=len(lab.rows))
    sentences = [done, *([stops(lab)] if lab.hardest else [])]
    yield f"<h2>{_e(name)}</h2><p>{_e('; '.join(sentences))}</p>"
    yield f"<h3>{_e(_('Steps'))}</h3><table><thead><tr>"
    yield f"<th>{_e(_('step'))}</th><th>{_e(_('passed'))}</th>"
    yield "".join(f'<th class="n">{_e(text)}</th>' for text in (_("here"), _("took"), _("tries"), _("hints")))
    yield "</tr></thead><tbody>"
    yield from (_step(number, step, lab) for number, step in enumerate(lab.steps, start=1))
    yield f"</tbody></table><h3>{_e(_('Learners'))}</h3><table><thead><tr><th>{_e(_('learner'))}</th>"
    yield "".join(
        f'<th class="m" title="{_e(step.id)}">{number}</th>' for number, step in enumerate(lab.steps, start=1)
    )
    yield f"<th>{_e(_('at step'))}</th>"
    yield "".join(f'<th class="n">{_e(text)}</th>' for text in (_("checks"), _("hints"), _("at work")))
    yield f"<th>{_e(_('last'))}</th></tr></thead><tbody>"
    yield from (_learner(row, lab) for row in lab.rows)
    yield "</tbody></table>"
    legend = _("✓ passed · ▸ the first step open · took and tries: medians of those who passed")
    yield f'<p class="note">{_e(legend)}</p>'


def _step(number: int, step: StepFigures, lab: LabFigures) -> str:
    share = round(100 * step.passed / len(lab.rows)) if lab.rows else 0
    hard = ' class="hard"' if step in lab.hardest else ""
    name = f"{number} {step.title} ({step.id})" if step.title else f"{number} {step.id}"
    cells = [
        str(step.here),
        "–" if step.seconds is None else duration(step.seconds),
        "–" if step.tries is None else f"{step.tries:g}",
        str(step.hints),
    ]
    bar = f'<div class="bar"><i style="width:{share}%"></i></div>{step.passed}'
    return (
        f"<tr{hard}><td>{_e(name)}</td><td>{bar}</td>"
        + "".join(f'<td class="n">{_e(cell)}</td>' for cell in cells)
        + "</tr>"
    )


def _learner(row: Row, lab: LabFigures) -> str:
    standing = row.standing
    marks = "".join(_mark(row, step.id) for step in lab.steps)
    hints = sum(step.hints for step in standing.steps.values())
    cells = [str(standing.checks), str(hints), duration(standing.seconds)]
    done = ' class="done"' if standing.finished is not None else ""
    return (
        f"<tr{done}><td>{_e(row.learner)}</td>{marks}<td>{_e(standing.at or _('finished'))}</td>"
        + "".join(f'<td class="n">{_e(cell)}</td>' for cell in cells)
        + f"<td>{_e(day(standing.last))}</td></tr>"
    )


def _mark(row: Row, step: str) -> str:
    there = row.standing.steps.get(step)
    if there is not None and there.passed is not None:
        return '<td class="m yes">✓</td>'
    return '<td class="m here">▸</td>' if row.standing.at == step else '<td class="m"></td>'


def _e(text: str) -> str:
    return html.escape(one_line(text), quote=True)
