"""One tree of errors, each with its code and its status, known to server, client and docs alike."""

from __future__ import annotations

import importlib
import json
import pkgutil
import runpy
from http import HTTPStatus
from pathlib import Path

import pytest

import standout
from standout import errors

ROOT = Path(__file__).resolve().parents[1]
KINDS = list(errors.all_kinds())


def _below(kind: type[Exception]) -> set[type[Exception]]:
    return {kind}.union(*(_below(each) for each in kind.__subclasses__()))


def test_nothing_is_outside_the_tree() -> None:
    """Of all modules, only this one defines errors (a private kind may carry more inside)."""
    for found in pkgutil.walk_packages(standout.__path__, "standout."):
        importlib.import_module(found.name)
    strangers = [
        kind
        for kind in _below(errors.StandoutError) - set(KINDS)
        if kind.__module__.startswith("standout.") and not kind.__name__.startswith("_")
    ]
    assert strangers == []
    assert {kind.__name__ for kind in KINDS} <= set(standout.__all__)


def test_codes_are_unique() -> None:
    codes = [kind.code for kind in KINDS]
    assert len(set(codes)) == len(codes)
    assert all(code.islower() and code.replace("_", "").isalpha() for code in codes)


@pytest.mark.parametrize("kind", KINDS)
def test_each_has_a_code_of_its_own_a_status_and_is_found_by_its_code(
    kind: type[errors.StandoutError],
) -> None:
    assert "code" in vars(kind)
    assert 400 <= HTTPStatus(kind.status) < 600
    assert errors.by_code(kind.code) is kind


def test_a_code_that_is_none() -> None:
    assert errors.by_code("") is None
    assert errors.by_code("too_many_requests") is None


def test_the_table_in_the_docs_is_current() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "make_error_docs.py"))
    page = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    assert tool["table"]() in page, "run: python tools/make_error_docs.py"


def test_a_server_answers_what_the_classes_say_and_the_client_makes_the_same_of_it() -> None:
    from email.message import Message

    from standout.client import transport
    from standout.service.errors import translate

    class Answer:
        def __init__(self, status: int) -> None:
            self.status, self.headers = status, Message()

        def getheader(self, name: str) -> str | None:
            return None

    more = {errors.BatchError: (3,), errors.MeasureError: ("arm", None)}
    for kind in KINDS:
        error = kind("what was wrong", *more.get(kind, ()))
        sent = translate(error)
        if isinstance(error, errors.BatchError):
            assert (sent.code, sent.detail) == (errors.TicketError.code, {"index": 3})
            continue
        assert (sent.status, sent.code) == (kind.status, kind.code)
        body = json.loads(bytes(sent.response().body))
        got = transport._error(Answer(sent.status), body, "here")  # type: ignore[arg-type]
        if kind.status == HTTPStatus.SERVICE_UNAVAILABLE:
            # What may pass is tried again; whether it may have been done, the class says.
            assert isinstance(got, errors.UnavailableError)
            assert got.may_be_done is kind.may_be_done
        elif kind in more or kind is errors.StandoutError:
            assert type(got) is errors.StudyError
        else:
            assert type(got) is kind
