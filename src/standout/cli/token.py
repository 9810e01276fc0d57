"""`standout token`: who may do what over HTTP."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from standout.cli.console import print_json
from standout.cli.options import Json, Place, Worker, typed_place
from standout.extras import require
from standout.text import article, moment, printable

if TYPE_CHECKING:
    from standout.study.storage.store import Store

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Access tokens for `standout serve`.",
)


DAY = 86_400.0


def _store(place: str, *, create: bool = False) -> Store:
    from standout.study.storage.store import open_store

    return open_store(typed_place(place), create=create)


@app.command()
def create(
    place: Place,
    role: Annotated[
        str,
        typer.Option(
            help="owner: everything; worker: ask, tell, status; rater: the rating page; "
            "viewer: read only."
        ),
    ],
    study: Annotated[str | None, typer.Option(metavar="NAME", help="Only for this study.")] = None,
    label: Annotated[str, typer.Option(help="The user or purpose of the token.")] = "",
    days: Annotated[
        float | None,
        typer.Option(help="Days until the token expires; by default it is valid until revoked."),
    ] = None,
    worker: Worker = None,
    url: Annotated[
        str, typer.Option(metavar="URL", help="The public address of the service, for the link.")
    ] = "http://127.0.0.1:8000",
    with_code: Annotated[
        bool | None,
        typer.Option("--qr/--no-qr", help="Draw the link as a QR code; the default on a terminal."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Create a token and print it, once.

    Only a hash of it is stored. The link with the token, and a QR code of the link, go to standard
    error.
    """
    from standout.study.names import worker_of
    from standout.study.storage import tokens
    from standout.study.token_links import code_of, drawn, link_of

    store = _store(place, create=True)
    lasts = None if days is None else DAY * days
    token, text = tokens.create(store, role, study, label, by=worker_of(worker), lasts=lasts)
    store.close()
    if as_json:
        print_json({**token.to_dict(), "token": text, "link": link_of(token, text, url)})
        return
    typer.echo(text)
    link = link_of(token, text, url)
    typer.echo(f"link: {link}", err=True)
    is_wanted = sys.stderr.isatty() if with_code is None else with_code
    if is_wanted and (code := code_of(link)) is not None:
        typer.echo(drawn(code), err=True)
    elif with_code:
        require("serve", "a QR code")
    what = "every study" if study is None else f"the study {study!r}"
    typer.echo(f"{article(token.role)}'s token for {what}; it is not shown again", err=True)


@app.command("list")
def list_tokens(place: Place, as_json: Json = False) -> None:
    """List the tokens, without their secrets.

    The list says when and by whom each was created and revoked.
    """
    from standout.study.storage.tokens import read_all

    store = _store(place)
    with store.read() as session:
        found, now = [kept.token for kept in read_all(session)], session.now
    store.close()
    if as_json:
        print_json({"tokens": [token.to_dict() for token in found]})
        return
    for token in found:
        scope = "every study" if token.study is None else printable(token.study, 40)
        parts = [
            token.id,
            f"{token.role:<6}",
            scope,
            _done("created", token.created, token.made_by),
        ]
        if token.revoked is not None:
            parts.append(_done("revoked", token.revoked, token.revoked_by))
        elif token.expires is not None:
            parts.append(f"{'ends' if now < token.expires else 'ended'} {moment(token.expires)}")
        parts += [printable(token.label, 60)] * bool(token.label)
        typer.echo("  ".join(parts))
    if not found:
        typer.echo("no tokens", err=True)


def _done(what: str, when: float, by: str) -> str:
    return f"{what} {moment(when)}" + (f" by {printable(by, 40)}" if by else "")


@app.command()
def revoke(
    place: Place,
    number: Annotated[
        str, typer.Argument(metavar="ID", help="The token's number in `standout token list`.")
    ],
    worker: Worker = None,
) -> None:
    """Revoke a token; servers refuse it within a second.

    Once a token was created, one is required. So after the last is revoked, servers refuse all
    requests until `standout token create PATH --role owner` creates another.
    """
    from standout.study.names import worker_of
    from standout.study.storage import tokens

    store = _store(place)
    token, left = tokens.revoke(store, number, by=worker_of(worker))
    store.close()
    typer.echo(f"revoked the {token.role}'s token {token.id}")
    again = "create one with `standout token create PATH --role owner`"
    if not left:
        typer.echo(f"that was the last token: servers now refuse every user; {again}", err=True)
    elif not any(other.role is tokens.Role.OWNER and other.study is None for other in left):
        typer.echo(f"no owner's token for every study is left; {again}", err=True)
