"""`standout serve`: studies over HTTP, with pages for browsers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from standout.cli.options import typed_place
from standout.errors import StudyError

if TYPE_CHECKING:
    from standout.service.settings import Settings


def serve(
    place: Annotated[
        str | None,
        typer.Argument(
            metavar="[PATH]",
            help="Where the studies are: a file (created with --new), "
            "postgresql://user@host/database, or env:NAME for a secret address.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(help="The address to listen on; other than this machine only with tokens."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="The port; 0 for any free one.", min=0, max=65535)
    ] = 8000,
    new: Annotated[
        bool,
        typer.Option("--new", help="Create PATH if it does not exist: a file without studies."),
    ] = False,
    require_token: Annotated[
        bool, typer.Option("--require-token", help="Require a token on this machine, too.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A host name that a proxy uses for this server; repeatable."),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="The address of a trusted proxy: its X-Forwarded-For and -Proto headers are "
            "used, and no others; repeatable.",
        ),
    ] = None,
    max_connections: Annotated[
        int,
        typer.Option(help="The largest number of connections; further requests get a 503.", min=16),
    ] = 1000,
    files: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="A folder of pictures for items: the image /files/cat.png is FOLDER/cat.png.",
        ),
    ] = None,
    rater_lease: Annotated[
        float,
        typer.Option(
            help="Seconds until an item that a rater leaves unanswered is free again.", min=1
        ),
    ] = 120.0,
    rater_tickets: Annotated[
        int,
        typer.Option(
            help="The largest number of items that the raters of one token hold at once.",
            min=1,
        ),
    ] = 50,
    new_raters: Annotated[
        float,
        typer.Option(
            help="New browsers per token and network address in an hour (and 30 at once).",
            min=1,
        ),
    ] = 60.0,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Show a study that a simulated crowd answers; without PATH."),
    ] = False,
    log_level: Annotated[
        str, typer.Option(help="debug, info (every request), warning or error.")
    ] = "warning",
) -> None:
    """Serve studies: an API, a dashboard, and a page for raters.

    Until a token is created, users of this machine have full access, and other machines have none.
    Afterwards a token is required, even when all are revoked. To listen on other addresses, create
    a token first (`standout token create`).
    """
    from standout.pictures.item_files import checked_folder
    from standout.service.server import LEVELS
    from standout.service.settings import Settings

    if log_level not in LEVELS:
        raise StudyError(f"no log level {log_level!r}; choose from {', '.join(LEVELS)}")
    settings = Settings(
        host=host,
        require_token=require_token,
        allow_hosts=tuple(allow_host or ()),
        proxies=_checked_proxies(proxy or []),
        most_connections=max_connections,
        files=None if files is None else checked_folder(files),
        rater_lease=rater_lease,
        rater_tickets=rater_tickets,
        new_raters_per_hour=new_raters,
    )
    if demo:
        if place is not None or not settings.may_be_open:
            raise StudyError("--demo has its own study: use it without PATH, on this machine only")
        _serve_demo(settings, port, log_level)
        return
    if place is None:
        raise StudyError("name the place of the studies: give PATH (or --demo)")
    where = typed_place(place)
    _check_there(where, new)
    _serve(where, settings, port, log_level)


def _check_there(place: str, is_new: bool) -> None:
    """Refuse to create a new store by mistake, when the user may have mistyped a name."""
    from standout.study.storage.location import locate

    found = locate(place)
    if found.file is not None and not is_new and not found.file.exists():
        raise StudyError(
            f"{found} does not exist; create a study with `standout study create {found} ...`, "
            "or serve a new empty file with --new"
        )


def _checked_proxies(given: list[str]) -> tuple[str, ...]:
    """Refuse a host name: a mistyped one would silently match no proxy."""
    import ipaddress

    for address in given:
        try:
            ipaddress.ip_network(address)
        except ValueError:
            raise StudyError(
                f"--proxy {address!r} is not an IP address (127.0.0.1) or network (10.0.0.0/8)"
            ) from None
    return tuple(given)


def _serve_demo(settings: Settings, port: int, level: str) -> None:
    import tempfile

    from standout.service.demo import NAME, Crowd, create_demo

    crowd: Crowd | None = None

    def begin(url: str) -> None:
        nonlocal crowd
        typer.echo(f"the study: {url}/study/{NAME} (a simulated crowd takes some minutes)")
        typer.echo(f"the rating page: {url}/rate/{NAME}")
        crowd = Crowd(url)
        crowd.start()

    with tempfile.TemporaryDirectory(prefix="standout-demo-") as folder:
        place = f"{folder}/demo.db"
        create_demo(place)
        try:
            _serve(place, settings, port, level, begin)
        finally:
            if crowd is not None:
                crowd.stop()


def _serve(
    place: str,
    settings: Settings,
    port: int,
    level: str,
    then: Callable[[str], None] | None = None,
) -> None:
    """Serve until interrupted; `then` is called with the address when the server listens."""
    from standout.driver.warm import warm_up
    from standout.service.server import make_server, open_socket

    live, made = _check_tokens(place, settings)
    listener = open_socket(settings.host, port)
    warm_up()
    url = _announce(place, settings, listener.getsockname()[1], live, made)
    if then is not None:
        then(url)
    typer.echo("Ctrl-C ends it")
    sys.stdout.flush()
    try:
        make_server(place, settings, level).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()


def _check_tokens(place: str, settings: Settings) -> tuple[int, int]:
    """The numbers of valid tokens and of all tokens ever made; refuses a public server without."""
    from standout.study.storage.store import open_store
    from standout.study.storage.tokens import count_tokens

    with closing(open_store(place, create=True)) as store, store.read() as session:
        live, made = count_tokens(session)
    if not live and not settings.is_loopback:
        raise StudyError(
            f"{settings.host} can be reached from other machines, and there is no token: create "
            "one with `standout token create PATH --role owner`, then serve"
        )
    return live, made


def _announce(place: str, settings: Settings, port: int, live: int, made: int) -> str:
    """Print the server's address and who may use it; return the address."""
    from standout.study.storage.location import locate

    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    typer.echo(f"serving {locate(place)}")
    typer.echo(f"dashboard: http://{host}:{port}/")
    if settings.may_be_open and not made:
        typer.echo("open to every user of this machine; no token is required until one is created")
    elif not live:
        typer.echo(
            "a token is required, and all are revoked: create one with "
            "`standout token create PATH --role owner`"
        )
    else:
        typer.echo(f"a token is required ({live} valid; `standout token create` makes one)")
    return f"http://{host}:{port}"
