"""Rewards that leave a study say whether they count; what reads them goes by that."""

from __future__ import annotations

from pathlib import Path

import pytest

from standout import Problem, Study, analyse
from standout.analysis.tables import Rewards, read_table
from tests.study.cli import standout
from tests.study.conftest import Clock

ARMS = ["ash", "elm", "fir"]
PROBLEM = Problem(noise="bernoulli")


@pytest.fixture
def study(folder: Path, clock: Clock) -> Study:
    """A reward counted, one void, one beyond the budget, one that waits, two pulls out."""
    made = Study.create(folder / "old.db", ARMS, PROBLEM, budget=6, clock=clock)
    tickets = made.ask(6)
    elm, fir = (next(t for t in tickets if t.arm == arm) for arm in ("elm", "fir"))
    _, late = (ticket for ticket in tickets if ticket.arm == "ash")
    made.tell_many([(elm, 1.0), (fir, 0.0)])
    made.tell(late, 1.0)  # It waits for the arm's first.
    made.tell(arm="elm", reward=0.0)
    made.void(ticket=fir, reason="a slip")
    made.tell(arm="elm", reward=1.0)
    return made


def test_each_row_says_its_status(study: Study) -> None:
    history = study.history()
    statuses = ["counted", "void", "waiting", "surplus"]
    assert history["status"].tolist()[:4] == statuses
    assert history["turn"].tolist()[:4] == [1, 0, 0, 0]
    assert history.out["status"].tolist() == ["out"] * study.status().pending
    lines = "".join(study.export_parts("csv")).splitlines()
    assert lines[0].endswith("worker,status,turn")
    assert lines[-1].split(",")[0] == "0"
    assert lines[-1].split(",")[-2] == "out"


def test_analyse_goes_by_it(study: Study, folder: Path) -> None:
    """Waiting rewards were once taken for counted: those of slow answers, and so biased."""
    path = folder / "log.csv"
    path.write_text("".join(study.export_parts("csv")))
    found = read_table(path)
    assert isinstance(found, Rewards)
    assert (found.arms, found.values.tolist()) == (("elm",), [1.0])
    (note,) = found.notes
    for words in ("2 waiting", "1 void", "1 beyond the budget", "still out"):
        assert words in note


def test_export_create_tell(study: Study, folder: Path) -> None:
    """The recipe of the documentation: what was void or surplus does not come back."""
    path, arms = folder / "log.csv", folder / "arms.csv"
    path.write_text("".join(study.export_parts("csv")))
    arms.write_text("arm\n" + "".join(f"{arm}\n" for arm in ARMS))
    new = folder / "new.db"
    assert standout("study", "create", new, "--arms", arms, "--noise", "bernoulli").code == 0
    told = standout("study", "tell", new, path)
    assert told.code == 0, told.err
    assert "left out what the study does not count" in told.err
    with Study.open(new) as other:
        old = study.history()
        counted = old["status"] == "counted"
        assert other.history()["arm"].tolist() == old["arm"][counted].tolist()
        assert other.history()["reward"].tolist() == old["reward"][counted].tolist()


def test_rewards_are_read_in_the_order_in_which_they_were_counted(
    folder: Path, clock: Clock
) -> None:
    problem = Problem(noise="bounded:0,1")
    with Study.create(folder / "slow.db", ARMS, problem, clock=clock) as study:
        tickets = study.ask(30)
        values = {ticket.id: ticket.id / 31 for ticket in tickets}
        for ticket in reversed(tickets):
            study.tell(ticket, values[ticket.id])
        path = folder / "log.csv"
        path.write_text("".join(study.export_parts("csv")))
        mine, found = study.identification(), analyse(path, problem).found
        for name in ("lower", "upper"):
            ends = [
                dict(zip(one.arms, getattr(one, name).tolist(), strict=True))
                for one in (mine, found)
            ]
            assert ends[1] == pytest.approx(ends[0])
