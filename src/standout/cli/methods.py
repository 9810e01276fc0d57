"""`standout methods`."""

from __future__ import annotations

from standout.cli.console import print_json, say
from standout.cli.options import Json


def methods(as_json: Json = False) -> None:
    """List the methods: what each does and where it comes from.

    A method says which arms to pull next and when to stop. A star marks the
    default. Options follow the name after a colon. The list includes methods of
    other installed packages (docs/rules.md).

    \b
    Examples:
      standout methods
      standout methods --json
      standout simulate wine --method roai-lucb:lambda=2,epsilon=0.1
    """
    from standout.core.methods import DEFAULT_METHOD, all_methods

    found = all_methods().values()
    if as_json:
        listed = [{"name": m.name, "summary": m.summary, "reference": m.reference} for m in found]
        print_json({"default": DEFAULT_METHOD, "methods": listed})
        return

    from standout.cli.tables import methods_table

    say(methods_table(found, DEFAULT_METHOD))
