"""Which role may use which address: found out by trying every one.

`python tools/make_access_docs.py` writes the table into docs/service.md.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient

from standout.service.app import create_app
from standout.service.settings import Settings
from standout.study.storage.tokens import Role
from tests.service.conftest import BASE, bearer, new_token

_PART = re.compile(r"\{(\w+)(?::\w+)?\}")
"""What differs from one address to another, by its name."""
CALLERS = ("no token", *(str(role) for role in (Role.RATER, Role.WORKER, Role.VIEWER, Role.OWNER)))


def routes_of(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Method and path of every address."""
    for route in app.routes:
        # FastAPI keeps an included router as one entry, which knows what it leads to.
        entries: Any = getattr(route, "effective_route_contexts", lambda one=route: [one])()
        for entry in entries:
            for method in sorted(set(entry.methods) - {"HEAD", "OPTIONS"}):
                yield method, entry.path


def measure() -> dict[tuple[str, str], dict[str, bool]]:
    """For every address, which callers get past the gate.

    The study named is not there, and bodies are not what is asked for: whoever
    may is told so (404, 422), whoever may not gets 401 or 403 before.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/study.db"
        tokens = {caller: new_token(place, caller) for caller in CALLERS[1:]}
        settings = Settings(require_token=True, rater_burst=10_000)
        app = create_app(place, settings)
        found: dict[tuple[str, str], dict[str, bool]] = {}
        with TestClient(app, base_url=BASE, follow_redirects=False) as client:
            for method, path in routes_of(app):
                address = _PART.sub("none", path)
                shown = _PART.sub(lambda part: part[1].upper(), path)
                found[method, shown] = {
                    caller: _may(client, method, address, tokens, caller) for caller in CALLERS
                }
    return found


def _may(client: TestClient, method: str, path: str, tokens: dict[str, str], caller: str) -> bool:
    headers = {} if caller == "no token" else bearer(tokens[caller])
    body = {"token": tokens["viewer"]} if method == "POST" else None
    answer = client.request(method, path, json=body, headers=headers)
    client.cookies.clear()
    assert answer.status_code < 500, (method, path, answer.text)
    return answer.status_code not in (401, 403)


def render() -> str:
    """The table, in Markdown."""
    lines = ["| address | " + " | ".join(CALLERS) + " |", "|---|" + "---|" * len(CALLERS)]
    for (method, path), may in measure().items():
        cells = ["yes" if may[who] else "–" for who in CALLERS]
        lines.append(f"| `{method} {path}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


DOCS = Path(__file__).resolve().parents[3] / "docs" / "service.md"
BEGIN, END = "<!-- begin: python tools/make_access_docs.py -->\n", "<!-- end -->"


def refreshed(text: str) -> str:
    """The page with its table made anew."""
    head, _, rest = text.partition(BEGIN)
    return head + BEGIN + render() + END + rest.partition(END)[2]
