"""The program `standout`.

Each command is a module of this package. Numba and numpy are imported inside the commands that
compute, so that `standout --help` is fast.
"""

from __future__ import annotations

import gc
import sys
from typing import Annotated, NoReturn

import typer
from typer.models import CommandInfo

from standout import __version__
from standout.cli import exits
from standout.cli.analyse import analyse
from standout.cli.demo import demo
from standout.cli.methods import methods
from standout.cli.plan import plan
from standout.cli.report import report
from standout.cli.reproduce import reproduce
from standout.cli.run import run
from standout.cli.serve import serve
from standout.cli.simulate import simulate
from standout.cli.study import app as study
from standout.cli.token import app as token
from standout.cli.warm import warm

app = typer.Typer(
    cls=exits.Commands,
    invoke_without_command=True,
    rich_markup_mode=None,  # plain help: the same in a terminal, a pipe and the docs
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"standout {__version__}")
        raise typer.Exit


@app.callback()
def standout(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Find the few items that stand out from the many, with few measurements and a guarantee.

    An item ("arm") stands out if its mean exceeds median + k x 1.4826 x MAD of
    all means.
    Start with `standout demo`.
    """
    if context.invoked_subcommand is None:
        print(context.get_help())


# In the order of the help: first the commands that a newcomer needs.
app.command()(demo)
app.command()(run)
app.command()(exits.imports_safely(analyse))
app.add_typer(study, name="study")
app.command()(report)
app.command()(serve)
app.add_typer(token, name="token")
app.command()(exits.imports_safely(plan))
app.command()(exits.imports_safely(simulate))
app.command()(methods)
app.command()(warm)
app.command()(exits.imports_safely(reproduce))


def _keep_called(commands: typer.Typer, words: list[str]) -> None:
    """Keep only the command that is called, because preparing all of them takes time."""
    name = words[0] if words else ""
    called = [one for one in commands.registered_commands if _name_of(one) == name]
    groups = [one for one in commands.registered_groups if one.name == name]
    if called or groups:
        commands.registered_commands, commands.registered_groups = called, groups
    for group in groups:
        if group.typer_instance is not None:
            _keep_called(group.typer_instance, words[1:])


def _name_of(command: CommandInfo) -> str:
    return command.name or getattr(command.callback, "__name__", "").replace("_", "-")


def main() -> NoReturn:
    """Entry point of the `standout` script."""
    _keep_called(app, sys.argv[1:])
    # Imported objects stay. Scanning them for garbage again and again takes a tenth of a short
    # command's time.
    gc.set_threshold(20_000, 50, 100)
    exits.run(app)
