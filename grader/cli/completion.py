"""`grader completion`: what a shell needs to complete our commands."""

from __future__ import annotations

import click

from grader.cli.commands import N_, Command, OneOf


@click.command(
    cls=Command,
    help=N_(
        'Print the completion script for SHELL. bash: eval "$(grader completion bash)" in ~/.bashrc; '
        "zsh: the same in ~/.zshrc; fish: write it to ~/.config/fish/completions/grader.fish"
    ),
)
@click.argument("shell", type=OneOf("bash", "zsh", "fish"))
def command(shell: str) -> int:
    """Print click's script for that shell."""
    from click.shell_completion import get_completion_class

    from grader.cli.root import COMPLETE, grader

    kind = get_completion_class(shell)
    assert kind is not None, "click knows these three shells"
    script = kind(grader, {}, "grader", COMPLETE)
    # Not source(): it runs bash to learn its version, for a warning about one that is older than any we meet.
    click.echo(script.source_template % script.source_vars())
    return 0
