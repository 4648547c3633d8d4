"""`python -m tests.bench`: choose what to measure, measure it, print it, keep it.

Owns the command line. The result goes to stdout, what is being done to stderr. Exit code 0 whatever the figures
are, 2 for a wrong command line, 3 where something could not be measured, 130 after Ctrl-C (what was measured until
then is printed).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.binaries import cache
from cluster.binaries.progress import PlainProgress
from cluster.errors import Problem
from tests.bench import application, busy, crowd, crowded, density, idle, resets, starts, table, verdicts, watching
from tests.bench.comparison import Comparison
from tests.bench.figures import Report, fit_to_keep, load, save
from tests.bench.ground import LAB, Ground, held_back, interruptible
from tests.bench.host import machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Measure = Callable[[Ground, Report], None]

_ROOT = Path(__file__).resolve().parents[2]
PAGE = _ROOT / "docs" / "benchmarks.md"
_HIDDEN = {str(_ROOT): ".", str(Path.home()): "~"}
_MEASURED_BY = {
    "start": starts.PART,
    "stop": starts.PART,
    "busy": busy.PART,
    "check": verdicts.PART,
    "watch": watching.PART,
    "reset": resets.PART,
    "memory": idle.PART,
    "cpu": idle.PART,
    "idle": idle.PART,
    "sessions": crowd.PART,
    "density": density.PART,
    "tui": application.PART,
    "board": crowded.PART,
}
"""What may be asked for → the part that measures it: a stop needs a start, memory and processor one rest."""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; the exit code."""
    options = _options(argv)
    code = 0
    report = options.kept
    if report is None:
        report = Report(machine=machine())
        code = _measure(options, report)
    report = fit_to_keep(report, _HIDDEN)
    then = None if options.alone else options.against or _kept_run()
    if options.json:
        save(report, options.json)
    if options.write:
        if code == 0:
            table.write_between(options.write, table.markdown(report))
            save(report, _beside(options.write))
        else:
            _say(f"{options.write} is left as it is: this run is not whole")
    render = table.markdown if options.markdown else table.text
    sys.stdout.write(render(report, Comparison(report, then) if then else None))
    return code


def _kept_run() -> Report | None:
    """The run that the repository keeps."""
    try:
        return load(_beside(PAGE))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        _say(f"there is nothing to compare with: {error}")
        return None


def _beside(page: Path) -> Path:
    """Where the run is kept that `page` shows."""
    return page.with_suffix(".json")


def _measure(options: argparse.Namespace, report: Report) -> int:
    interruptible()
    parts: dict[str, Measure] = {
        starts.PART: lambda ground, report: starts.measure(ground, report, options.runs),
        busy.PART: lambda ground, report: busy.measure(ground, report, options.runs),
        verdicts.PART: lambda ground, report: verdicts.measure(ground, report, options.runs),
        watching.PART: lambda ground, report: watching.measure(ground, report, options.runs, options.idle),
        resets.PART: lambda ground, report: resets.measure(ground, report, options.runs),
        idle.PART: lambda ground, report: idle.measure(ground, report, options.runs, options.idle),
        crowd.PART: lambda ground, report: crowd.measure(ground, report, options.runs, options.idle, options.sessions),
        application.PART: lambda ground, report: application.measure(ground, report, options.runs),
        crowded.PART: lambda ground, report: crowded.measure(ground, report, options.runs),
        density.PART: lambda ground, report: density.measure(ground, report, options.runs, options.learners),
    }
    code = 0
    try:
        binaries = cache.ensure(None, None, PlainProgress(sys.stderr))
        with Ground(binaries, _say) as ground:
            for name in options.only:
                try:
                    parts[name](ground, report)
                except Problem as problem:
                    code = 3
                    report.notes.append(f"{name}: {problem.message}".replace("\n", " / "))
                    _say(f"{name} could not be measured: {problem.message}")
                    with held_back():
                        ground.stop_all()
    except KeyboardInterrupt:
        report.notes.append("interrupted")
        return 130
    except Problem as problem:
        _say(problem.message)
        return 3
    return code


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=f"Measure Batchlab on this machine, with {LAB} and its programs."
    )
    every = ",".join(dict.fromkeys(_MEASURED_BY.values()))
    parser.add_argument(
        "--only", type=_parts, default=_parts(every), metavar="WORDS", help=f"of: {','.join(_MEASURED_BY)}"
    )
    parser.add_argument("--runs", type=_at_least_one, default=5, metavar="N", help="how often each (default: 5)")
    parser.add_argument(
        "--idle", type=float, default=30.0, metavar="SECONDS", help="how long a machine is left alone (default: 30)"
    )
    parser.add_argument(
        "--sessions", type=_sizes, default=[1, 2, 4, 8], metavar="NUMBERS", help="how many at once (default: 1,2,4,8)"
    )
    parser.add_argument(
        "--learners", type=_a_class, default=12, metavar="N", help="how many in the class of `density` (default: 12)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the run")
    parser.add_argument("--kept", type=_report, metavar="FILE", help="print this kept run instead of measuring")
    parser.add_argument(
        "--against",
        type=_report,
        metavar="FILE",
        help=f"compare with this kept run; judges nothing (default: {_beside(PAGE).name} beside the page)",
    )
    parser.add_argument("--alone", action="store_true", help="compare with nothing")
    parser.add_argument("--markdown", action="store_true", help="print markdown instead of text")
    parser.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help=f"put the markdown into PAGE, between {table.BEGIN} and {table.END}, and keep the run beside it",
    )
    options = parser.parse_args(argv)
    if options.write:
        try:
            table.parts_of(options.write)  # now, not after half an hour of measuring
        except (OSError, ValueError) as error:
            parser.error(str(error))
    return options


def _parts(words: str) -> list[str]:
    chosen = words.split(",")
    if unknown := [word for word in chosen if word not in _MEASURED_BY]:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; there are {', '.join(_MEASURED_BY)}")
    wanted = {_MEASURED_BY[word] for word in chosen}
    return [part for part in dict.fromkeys(_MEASURED_BY.values()) if part in wanted]


def _at_least_one(word: str) -> int:
    number = int(word)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def _a_class(word: str) -> int:
    number = int(word)
    if number < 4:
        raise argparse.ArgumentTypeError("at least 4: one is stopped, one reset, one killed, and somebody must be left")
    return number


def _sizes(words: str) -> list[int]:
    return sorted({_at_least_one(word) for word in words.split(",")})


def _report(word: str) -> Report:
    try:
        return load(Path(word))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise argparse.ArgumentTypeError(f"{word} is no kept run: {error}") from error


def _say(text: str) -> None:
    sys.stderr.write(f"bench: {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
