"""`grader lab`: collections of labs by others, from the first look to the last."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, Group, complete, json_option
from grader.cli.common import note, print_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem

    from grader.collections.model import Collection
    from grader.collections.store import Difference
    from grader.lab.model import Lab

ADD, LIST, SHOW, ACCEPT, UPDATE, REMOVE = (
    N_("Fetch a collection and pin it; nothing of it runs before it is accepted."),
    N_("The collections, where they are from, and which are accepted."),
    N_("The labs of a collection, and what each would run on this machine."),
    N_("See what a collection would run, and allow it."),
    N_("Fetch a collection again, and say what changed."),
    N_("Delete a collection; your files and progress in its labs stay."),
)


class CollectionName(click.ParamType[str]):
    """A collection's name; whether there is such a collection is for the command to say."""

    name: ClassVar[str] = "name"  # type: ignore[misc]  # click declares it per instance

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The collections' folders, unread."""
        from grader.collections.store import names

        del ctx, param
        return complete(names(), incomplete)


class SourceName(click.ParamType[str]):
    """A folder, an archive, or an address of git."""

    name: ClassVar[str] = "source"  # type: ignore[misc]  # as above

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Files and folders, by the shell's own means."""
        from click.shell_completion import CompletionItem

        del ctx, param
        return [CompletionItem(incomplete, type="file")]


@click.group(
    cls=Group,
    name="lab",
    sections=(
        (
            N_("Commands"),
            (
                ("add", ADD),
                ("list", LIST),
                ("show", SHOW),
                ("accept", ACCEPT),
                ("update", UPDATE),
                ("remove", REMOVE),
            ),
        ),
    ),
    help=N_(
        "Labs by others, as collections: fetched from a folder, an archive or git, pinned to a commit or to their "
        "content. Labs of a collection are called NAME/LAB. They can be read at once, and run once you accepted them."
    ),
)
def command() -> None:
    """The group of these six."""


@command.command("add", cls=Command, help=ADD)
@click.argument("source", type=SourceName(), metavar="SOURCE")
@click.option("--name", metavar="NAME", help=N_("What to call it (default: the last part of SOURCE)."))
@click.option("--ref", default="", metavar="REF", help=N_("A branch, tag or commit of git (default: its HEAD)."))
def add(source: str, name: str | None, ref: str) -> int:
    """Fetch, keep, and say what there is and what to do next."""
    from grader.collections import store
    from grader.collections.source import checked_name, name_for, origin_of

    origin = origin_of(source, ref)
    chosen = checked_name(name) if name is not None else name_for(origin)
    collection, fetched = store.add(chosen, origin)
    click.echo(
        _("{name}: {labs} from {source}, pinned to {pin}").format(
            name=chosen, labs=_count(len(fetched.labs)), source=origin.location, pin=collection.pin
        )
    )
    _say_links(fetched.links)
    for lab_id, lab, problem in _labs(collection):
        click.echo(f"  {lab_id}  {_headline(lab, problem)}")
    click.echo(_("not accepted yet: these labs can be read, and nothing of them runs"))
    click.echo(_("  read one     grader show {lab}").format(lab=next(lab_id for lab_id, *_rest in _labs(collection))))
    click.echo(_("  accept them  grader lab accept {name}").format(name=chosen))
    return 0


@command.command("list", cls=Command, help=LIST)
@json_option()
def list_collections(as_json: bool) -> int:
    """One line, or one entry, for each."""
    from grader.collections import store
    from grader.report.layout import cut, pad, width_of

    found = store.installed(note)
    if as_json:
        from grader.cli.collection_documents import CollectionsDocument

        print_document(CollectionsDocument, {"collections": [_content(one) for one in found]})
        return 0
    if not found:
        click.echo(_("there are no collections; `grader lab add SOURCE` fetches one"))
        return 0
    names = max(len(one.name) for one in found) + 2
    trust = [_trust(one) for one in found]
    from rich.cells import cell_len

    widest = max(map(cell_len, trust)) + 2
    for one, word in zip(found, trust, strict=True):
        count = _count(len(store.lab_folders(one)))
        line = f"{pad(one.name, names)}{pad(word, widest)}{pad(count, 9)}{one.pin}  {one.origin.location}"
        click.echo(cut(line, width_of(sys.stdout)) if sys.stdout.isatty() else line)
    return 0


@command.command("show", cls=Command, help=SHOW)
@click.argument("name", type=CollectionName(), metavar="NAME")
@json_option()
def show(name: str, as_json: bool) -> int:
    """What it is, and lab by lab what would run."""
    from grader.collections import store

    collection = store.get(name)
    if as_json:
        from grader.cli.collection_documents import CollectionDocument

        print_document(CollectionDocument, {**_content(collection), "labs": _lab_contents(collection)})
        return 0
    click.echo(f"{name}  {_trust(collection)}")
    click.echo(_("  from    {source}").format(source=_from(collection)))
    click.echo(_("  pinned  {pin}").format(pin=collection.pin))
    click.echo(_("  files   {folder}").format(folder=collection.tree))
    _say_what_runs(collection)
    return 0


@command.command("accept", cls=Command, help=ACCEPT)
@click.argument("name", type=CollectionName(), metavar="NAME")
@click.option("--yes", is_flag=True, help=N_("Do not ask."))
@click.option(
    "--real-nodes",
    is_flag=True,
    help=N_("Its labs with a real node, too: their containers run as root, and could reach this machine."),
)
def accept(name: str, yes: bool, real_nodes: bool) -> int:
    """Show what would run, ask, and remember the answer with the digest of these very files."""
    from grader.collections import store

    collection = store.get(name)
    if collection.accepted is not None and (collection.real_nodes or not real_nodes):
        click.echo(_("{name} is accepted already, at {pin}").format(name=name, pin=collection.pin))
        return 0
    if not yes and not sys.stdin.isatty():
        raise UsageProblem(
            _("nobody is here to be asked"),
            _("read what it runs: {command}; then say --yes").format(command=f"grader lab show {name}"),
        )
    real_nodes = real_nodes or collection.real_nodes
    click.echo(f"{name}  {_from(collection)}  {collection.pin}")
    needy = _say_what_runs(collection)
    click.echo("")
    click.echo(
        _("Commands and functions of these labs run inside the sandbox of a lab, without its rights over this machine.")
    )
    if needy and real_nodes:
        click.echo(
            _("Containers of {labs} run as root: trust them as you trust a program that you run as root.").format(
                labs=", ".join(needy)
            )
        )
    elif needy:
        click.echo(
            _("Not accepted with it, since their containers run as root: {labs} (--real-nodes accepts them).").format(
                labs=", ".join(needy)
            )
        )
    if not yes and not _agreed(_("Accept {name} at {pin}?").format(name=name, pin=collection.pin)):
        click.echo(_("{name} is not accepted").format(name=name))
        return 1
    store.accept(collection, real_nodes=real_nodes)
    click.echo(_("{name} is accepted at {pin}").format(name=name, pin=collection.pin))
    return 0


@command.command("update", cls=Command, help=UPDATE)
@click.argument("name", type=CollectionName(), metavar="NAME")
@click.option("--ref", metavar="REF", help=N_("From now on this branch, tag or commit of git."))
@click.option("--dry-run", is_flag=True, help=N_("Only say what would change."))
def update(name: str, ref: str | None, dry_run: bool) -> int:
    """Fetch, compare, take."""
    from grader.collections import store

    with store.fetched_anew(name, ref) as (difference, take):
        before, after = difference.before, difference.after
        if before.digest == after.digest:
            if not dry_run:
                take()
            click.echo(_("{name} has not changed: {pin}").format(name=name, pin=after.pin))
            return 0
        click.echo(_("{name}: {before} → {after}").format(name=name, before=before.pin, after=after.pin))
        _say_difference(difference)
        if dry_run:
            return 0
        take()
    if before.accepted is not None:
        click.echo(_("what changed is not accepted: grader lab accept {name}").format(name=name))
    return 0


@command.command("remove", cls=Command, help=REMOVE)
@click.argument("name", type=CollectionName(), metavar="NAME")
def remove(name: str) -> int:
    """Delete its files, unless a lab of it runs."""
    from grader.collections import store

    store.remove(name)
    click.echo(_("{name} is removed; your files and progress in its labs stay").format(name=name))
    return 0


# -- what is said of one ------------------------------------------------------------------------------


def _count(labs: int) -> str:
    return _("1 lab") if labs == 1 else _("{count} labs").format(count=labs)


def _trust(collection: Collection) -> str:
    if collection.accepted is None:
        return _("not accepted yet")
    return _("accepted, with real nodes") if collection.real_nodes else _("accepted")


def _from(collection: Collection) -> str:
    origin = collection.origin
    return f"{origin.location} ({origin.ref})" if origin.ref else origin.location


def _labs(collection: Collection) -> list[tuple[str, Lab | None, str]]:
    """Its labs in the order to do them: id, the lab where it can be read, else what is wrong first."""
    from grader.cli.common import read_lab
    from grader.lab.catalogue import collected_lab_ids

    found: list[tuple[str, Lab | None, str]] = []
    for lab_id in collected_lab_ids(collection.name):
        try:
            found.append((lab_id, read_lab(lab_id), ""))
        except UsageProblem as problem:
            found.append((lab_id, None, problem.message.splitlines()[0]))
    return found


def _headline(lab: Lab | None, problem: str) -> str:
    if lab is None:
        return _("can't be read: {problem}").format(problem=problem)
    root = " · " + _("needs root") if lab.needs_root else ""
    return f"{lab.title} · {_('{minutes} min').format(minutes=lab.minutes)}{root}"


def _say_what_runs(collection: Collection) -> list[str]:
    """Lab by lab; the ids of those with a real node."""
    from grader.checks.words import shorten
    from grader.collections.trust import what_runs

    needy = []
    for lab_id, lab, problem in _labs(collection):
        click.echo("")
        click.echo(f"{lab_id}  {_headline(lab, problem)}")
        if lab is None:
            continue
        runs = what_runs(lab)
        if lab.needs_root:
            needy.append(lab_id)
        rows: list[tuple[str, Sequence[str]]] = [
            (_("functions of checks.py"), runs.functions),
            (_("commands of checks"), runs.commands),
            (_("scripts of checks"), runs.scripts),
            (_("scripts of the start"), runs.setup),
            (_("scripts of grader verify"), runs.solutions),
            (_("commands to type by a key"), [str(runs.suggested)] if runs.suggested else []),
            (_("objects at the start"), [f"{kind} × {count}" for kind, count in runs.objects]),
            (_("images"), runs.images),
            (_("add-ons"), runs.addons),
            (_("nodes that run containers"), runs.real_nodes),
        ]
        for what, words in rows:
            if words:
                click.echo(f"  {what}: {', '.join(shorten(word, 100) for word in words)}")
    return needy


def _say_difference(difference: Difference) -> None:
    for what, labs in (
        (_("new"), difference.added),
        (_("changed"), difference.changed),
        (_("gone"), difference.removed),
    ):
        for lab in labs:
            click.echo(f"  {what}  {difference.after.name}/{lab}")


def _say_links(links: Sequence[str]) -> None:
    from grader.checks.words import listed, shorten

    if links:
        names = listed([shorten(link) for link in links])
        note(_("links were left out: {names}").format(names=names))


def _agreed(question: str) -> bool:
    """What the person at the terminal answers."""
    click.echo(_("{question} [y/N] ").format(question=question), nl=False)
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _content(collection: Collection) -> dict[str, Any]:
    from grader.collections.store import lab_folders

    return {
        "name": collection.name,
        "kind": collection.origin.kind,
        "source": collection.origin.location,
        "ref": collection.origin.ref,
        "commit": collection.commit or None,
        "digest": collection.digest,
        "added": collection.added,
        "updated": collection.updated,
        "accepted": collection.accepted,
        "real_nodes": collection.real_nodes,
        "folder": str(collection.tree),
        "lab_ids": [f"{collection.name}/{lab}" for lab in lab_folders(collection)],
    }


def _lab_contents(collection: Collection) -> list[dict[str, Any]]:
    from dataclasses import asdict

    from grader.collections.trust import what_runs

    contents = []
    for lab_id, lab, problem in _labs(collection):
        runs = None
        if lab is not None:
            runs = {**asdict(what_runs(lab)), "objects": dict(what_runs(lab).objects)}
        contents.append({"id": lab_id, "title": lab.title if lab else None, "problem": problem or None, "runs": runs})
    return contents
