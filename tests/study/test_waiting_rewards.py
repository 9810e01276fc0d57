"""Every way to begin a study counts rewards in the order of asking, unless it is told otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from standout.study import Study
from tests.study.cli import standout


def test_every_way_to_begin_is_ordered(folder: Path) -> None:
    place = folder / "x.db"
    arms = folder / "arms.csv"
    arms.write_text("arm\na\nb\nc\n")
    words = ("--arms", arms, "--noise", "bernoulli")
    assert standout("study", "create", place, *words, "--study", "one").code == 0
    made = standout("study", "create", place, *words, "--study", "two", "--unordered")
    assert made.code == 0
    measure = ("--measure", "echo {arm}", "--study")
    for name, expected in (("one", True), ("two", False)):
        with Study.open(place, name) as study:
            assert study.ordered is expected
    # A run goes on with the kind of study that it would make.
    refused = standout("run", place, *words, *measure, "two")
    assert (refused.code, "add --unordered" in refused.err) == (2, True)
    refused = standout("run", place, *words, *measure, "one", "--unordered")
    assert (refused.code, "leave out --unordered" in refused.err) == (2, True)


@pytest.mark.parametrize("given", [None, False, True])
def test_the_default_over_http(folder: Path, given: bool | None) -> None:
    from fastapi.testclient import TestClient

    from standout.service.app import create_app
    from standout.service.settings import Settings

    place = str(folder / "x.db")
    body = {"name": "main", "arms": ["a", "b", "c"], "noise": "bernoulli"}
    if given is not None:
        body["ordered"] = given  # type: ignore[assignment]
    with TestClient(create_app(place, Settings()), base_url="http://127.0.0.1") as client:
        assert client.post("/api/v1/studies", json=body).status_code == 201
    with Study.open(place) as study:
        assert study.ordered is (given is not False)
