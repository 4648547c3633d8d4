"""click, in our words: help and usage errors in the language in force, laid out by terminal cells.

Owns the classes that every command is made of; knows nothing of any one command. Help texts are marked with
`N_` where they stand and looked up when they are shown, because modules are imported before a long-living
process knows whom it talks to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import click

from cluster.errors import Problem, UsageProblem
from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from click.shell_completion import CompletionItem

_HELP_NAMES = {"help_option_names": ["-h", "--help"]}
_WIDEST_NAME = 24


def N_(message: str) -> str:  # noqa: N802  # the name that message extraction knows
    """`message` itself, marked for translation; `_` looks it up when it is shown."""
    return message


class Command(click.Command):
    """A command whose help and errors are translated."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", _HELP_NAMES)
        super().__init__(*args, **kwargs)

    def get_help(self, ctx: click.Context) -> str:
        """The whole help page."""
        return _page(self, ctx, ())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does it, with our words for what is too much."""
        ctx.allow_extra_args = True
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click's parser leaves some without
            raise
        if rest and not ctx.resilient_parsing:
            raise usage(_("too many words: {words}").format(words=" ".join(rest)), ctx)
        return rest


class Group(click.Group):
    """Commands by name, each imported from its module (`<package>.<name>`, attribute `command`) when used."""

    def __init__(
        self, *args: Any, sections: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (), **kwargs: Any
    ) -> None:
        """`sections`: (title, ((command, what it does), …)), as the help page shows them."""
        kwargs.setdefault("context_settings", _HELP_NAMES)
        super().__init__(*args, **kwargs)
        self.sections = sections

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of the help page."""
        del ctx
        return [name for _title, rows in self.sections for name, _help in rows] or list(self.commands)

    def get_help(self, ctx: click.Context) -> str:
        """The whole help page."""
        return _page(self, ctx, self.sections)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with a near name for a typo."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is None:
            raise no_such(_("no command '{word}'"), name, self.list_commands(ctx), _see_help(ctx))
        return name, command, args[1:]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Command names with what they do, without importing any."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=_(does))
            for _title, rows in self.sections
            for name, does in rows
            if name.startswith(incomplete)
        ]
        return found or super().shell_complete(ctx, incomplete)


class OneOf(click.ParamType[str]):
    """One of a few words, refused in our words."""

    name = "word"

    def __init__(self, *words: str) -> None:
        self.words = words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word itself."""
        if value in self.words:
            return str(value)
        del param
        raise no_such(_("no '{word}' here"), str(value), self.words, _see_help(ctx))

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """`a|b|c`."""
        del param, ctx
        return "|".join(self.words)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The words that begin so."""
        del ctx, param
        return complete(self.words, incomplete)


class LabName(click.ParamType[str]):
    """A lab's id; whether there is such a lab is for the command to say."""

    name: ClassVar[str] = "lab"  # type: ignore[misc]  # click declares it per instance

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The labs' folders, unread."""
        from grader.collections.address import address
        from grader.collections.store import find, lab_folders, names
        from grader.lab.catalogue import labs_dir

        del ctx, param
        try:
            found = sorted(path.parent.name for path in labs_dir().glob("*/lab.md"))
            kept = [one for name in names() if (one := find(name)) is not None]
            found += [address(one.name, lab) for one in kept for lab in lab_folders(one)]
        except (OSError, Problem):
            found = []
        return complete(found, incomplete)


def lab_argument(*, required: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The LAB argument that most commands take."""
    return click.argument("lab", type=LabName(), required=required)


def lab_option() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--lab`, for commands whose words are something else."""
    return click.option("--lab", type=LabName(), metavar="LAB", help=N_("The lab, where several run."))


def json_option() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The `--json` switch of every command that has a result."""
    return click.option("--json", "as_json", is_flag=True, help=N_("The result as one JSON document."))


def complete(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Those of `words` that begin with what was typed."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def no_such(what: str, word: str, known: Iterable[str], advice: str = "") -> UsageProblem:
    """The refusal of a word outside a known set, with a near name: `what` has the place `{word}`."""
    import difflib

    known = [*known]
    message = what.format(word=word)
    near = difflib.get_close_matches(word, known, n=1)
    if near:
        more = _("did you mean '{near}'?").format(near=near[0])
        message = _("{trouble}; {advice}").format(trouble=message, advice=more)
    elif known:
        more = _("there are: {names}").format(names=", ".join(known))
        message = _("{trouble}; {advice}").format(trouble=message, advice=more)
    return UsageProblem(message, advice)


def no_lab(word: str) -> UsageProblem:
    """The refusal of a lab that isn't there."""
    from grader.lab.catalogue import every_lab_id

    return no_such(_("no lab '{word}'"), word, every_lab_id(), _("`grader list` shows the labs"))


def usage(message: str, ctx: click.Context | None) -> UsageProblem:
    """A problem of the command line, with the command that shows what is right."""
    return UsageProblem(message, _see_help(ctx))


def _see_help(ctx: click.Context | None) -> str:
    path = ctx.command_path if ctx else "grader"
    return _("`{command} --help` shows what it takes").format(command=path)


def translated(error: click.UsageError) -> UsageProblem:
    """click's refusal in our words."""
    match error:
        case click.NoSuchOption():
            known = [name for param in _options(error.ctx) for name in param.opts if name.startswith("--")]
            return no_such(_("no option {word}"), error.option_name, known, _see_help(error.ctx))
        case click.BadOptionUsage():
            given = [option for option in _options(error.ctx) if error.option_name in option.opts]
            what = _("{option} takes no value") if any(one.is_flag for one in given) else _("{option} needs a value")
            return usage(what.format(option=error.option_name), error.ctx)
        case click.MissingParameter() if error.param is not None and error.ctx is not None:
            what = error.param.make_metavar(error.ctx).strip("[]")
            return usage(_("{what} is missing").format(what=what), error.ctx)
        case click.BadParameter(param=click.Parameter(type=click.IntRange(min=low, max=high)) as param):
            whole = _("{option}: a whole number from {min} to {max}")
            return usage(whole.format(option=param.opts[-1], min=low, max=high), error.ctx)
        case click.BadParameter() if error.param is not None:
            return usage(f"{error.param.opts[-1]}: {error.message}", error.ctx)
    return usage(error.format_message(), error.ctx)


def _options(ctx: click.Context | None) -> list[click.Option]:
    params = ctx.command.get_params(ctx) if ctx else []
    return [param for param in params if isinstance(param, click.Option)]


# -- the help page ------------------------------------------------------------------------------------


def _page(
    command: click.Command, ctx: click.Context, sections: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
) -> str:
    import sys

    from rich.cells import cell_len

    from grader.report.layout import WIDTH, width_of, wrap

    width = min(width_of(sys.stdout), WIDTH)
    start = f"{_('Usage:')} {ctx.command_path}"
    pieces = " ".join(command.collect_usage_pieces(ctx))
    lines = _under(start, wrap(pieces, width - 30), cell_len(start) + 1)
    for paragraph in (_(command.help) if command.help else "").split("\n\n"):
        lines += ["", *(f"  {line}" for line in wrap(paragraph, width - 2))]
    for title, rows in sections:
        lines += ["", f"{_(title)}:", *_rows([(name, _(does)) for name, does in rows], width)]
    options = [row for param in command.get_params(ctx) if (row := _option_row(param, command, ctx))]
    lines += ["", _("Options:"), *_rows(options, width)]
    return "\n".join(lines)


def _option_row(param: click.Parameter, command: click.Command, ctx: click.Context) -> tuple[str, str] | None:
    if not isinstance(param, click.Option) or param.hidden:
        return None
    record = param.get_help_record(ctx)
    if record is None:
        return None
    if param is command.get_help_option(ctx):
        return record[0], _("This page.")
    return record[0], _(param.help) if param.help else ""


def _rows(rows: list[tuple[str, str]], width: int) -> list[str]:
    from grader.report.layout import wrap

    column = 4 + max((len(name) for name, _does in rows if len(name) <= _WIDEST_NAME), default=0)
    return [line for name, does in rows for line in _under(f"  {name}", wrap(does, width - column), column)]


def _under(label: str, texts: list[str], column: int) -> list[str]:
    """`label`, then the lines of `texts` at `column`; on a line of its own where it is too long."""
    from rich.cells import cell_len

    from grader.report.layout import pad

    if cell_len(label) >= column:
        return [label, *(" " * column + text for text in texts)]
    return [pad(label, column) + texts[0], *(" " * column + text for text in texts[1:])]
