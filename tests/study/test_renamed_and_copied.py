"""Another name for a study, and a second study of one: in a database, over HTTP, on the shell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from standout import Client, Problem, Study
from standout.errors import NoStudyError, StudyError, StudyExistsError
from standout.study.storage.store import open_store
from standout.study.storage.tokens import create
from standout.study_interface import StudyInterface
from tests.service.live import serving
from tests.study.cli import standout as command

ARMS = ["ash", "elm", "fir"]


@pytest.fixture
def trees(place: str) -> str:
    """A study with some rewards and a change by hand."""
    problem = Problem(noise="bernoulli", k=2)
    with Study.create(place, ARMS, problem, name="trees", room=6, axis="Ripe") as study:
        study.tell_many([(arm, 1.0) for arm in ARMS for _ in range(3)], key="once")
        study.set(budget=500, reason="a grant")
    return place


@pytest.fixture(params=["here", "over HTTP"])
def study(trees: str, request: pytest.FixtureRequest) -> Iterator[StudyInterface]:
    if request.param == "here":
        with Study.open(trees) as found:
            yield found
        return
    with serving(trees) as url, Client(url) as client:
        yield client.study("trees")


def test_another_name(study: StudyInterface, trees: str) -> None:
    study.copy("taken")
    with pytest.raises(StudyExistsError):
        study.rename("taken")
    study.rename("maples", "no ashes in it", worker="ada")
    assert study.name == "maples"
    assert study.status().pulls == 9
    change = study.changes()[-1]
    assert (change.reason, change.worker) == ("renamed from trees to maples: no ashes in it", "ada")
    with pytest.raises(NoStudyError):
        Study.open(trees, "trees")


def test_a_copy_goes_its_own_way(study: StudyInterface, trees: str) -> None:
    study.copy("whole")
    study.copy("empty", rewards=False)
    with pytest.raises(StudyExistsError):
        study.copy("empty")
    head = study.status().head
    with Study.open(trees, "whole") as whole, Study.open(trees, "empty") as empty:
        assert whole.status().head == head
        assert whole.verify().problems == ()
        assert whole.tell_many([(arm, 1.0) for arm in ARMS for _ in range(3)], key="once").again
        now = empty.status()
        assert (now.pulls, now.budget, now.room, now.axis) == (0, 500, 6, "Ripe")
        assert empty.problem == whole.problem
        whole.tell(arm="ash", reward=0.0)
        assert empty.add_arms(["oak"]).arms == 4
    assert study.status().head == head
    assert study.status().arms == 3


def test_on_the_command_line(trees: str) -> None:
    assert command("study", "copy", trees, "trees", "more", "--empty").code == 0
    assert command("study", "rename", trees, "trees", "maples").code == 0
    names = [row["name"] for row in command("study", "list", trees, "--json").json["studies"]]
    assert sorted(names) == ["maples", "more"]
    done = command("study", "add-arms", trees, "-", "--study", "more", stdin="arm\noak\nyew\n")
    assert "more: 5 arms" in done.out
    done = command("study", "add-arms", trees, "-", "--study", "more", stdin="arm\nbox\nbay\n")
    assert (done.code, "there is room for 1 to 1 more arms" in done.err) == (2, True)


def test_who_may(trees: str) -> None:
    """A token for one study makes no other, and none but an owner's renames."""
    with serving(trees, require_token=True) as url:
        store = open_store(trees)
        texts = {role: create(store, role, "trees", "", by="")[1] for role in ("owner", "worker")}
        store.close()
        with Client(url, token=texts["owner"]) as client:
            with pytest.raises(StudyError, match="cannot create others"):
                client.study("trees").copy("mine")
            client.study("trees").rename("maples")
            assert client.study("maples").status().pulls == 9
        with Client(url, token=texts["worker"]) as client, pytest.raises(StudyError):
            client.study("maples").rename("trees")
