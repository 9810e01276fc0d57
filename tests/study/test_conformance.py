"""What a study promises, on both storages."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress

import numpy as np
import pytest

from standout import Problem
from standout.core.kinds import Verdict
from standout.errors import (
    AllOutError,
    BatchError,
    ProblemError,
    RewardError,
    StudyError,
    TicketError,
)
from standout.study import Study, Ticket
from standout.study.events import snapshot
from standout.study.events.fold import differences
from standout.study.storage.session import Deleted

ARMS = ["ash", "elm", "fir", "oak", "yew"]
MEANS = {"ash": 0.0, "elm": 0.1, "fir": 0.2, "oak": 0.3, "yew": 5.0}
SIGMA = 0.03
PROBLEM = Problem(noise="gaussian:0.03", k=2)


def make(place: str, **options: object) -> Study:
    return Study.create(place, ARMS, PROBLEM, "roai-lucb", **options)  # type: ignore[arg-type]


def finish(study: Study, batch: int = 1, seed: int = 0, limit: int = 5000) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(limit):
        tickets = study.ask(batch)
        if not tickets:
            return
        study.tell_many([(t, rng.normal(MEANS[t.arm], SIGMA)) for t in tickets])
    raise AssertionError("the study does not end")


@pytest.mark.parametrize("batch", [1, 7, 24])
def test_a_study_finds_what_stands_out(place: str, batch: int) -> None:
    with make(place) as study:
        finish(study, batch)
        status = study.status()
        assert status.outliers == ("yew",)
        assert status.normal == ("ash", "elm", "fir", "oak")
        assert status.stopped
        assert status.reason == "decided"
        assert status.pending == 0
        found = study.identification()
        assert found.outliers == ("yew",)
        assert found.pulls == status.pulls == len(study.history())
        assert study.verify().problems == ()


def test_opening_goes_on_where_it_was(place: str) -> None:
    """Two handles that take turns see what one handle sees alone."""
    alone = make(place, name="alone")
    make(place, name="turns").close()
    rewards = np.random.default_rng(3)
    for _ in range(50):
        with Study.open(place, "turns") as other:
            mine, theirs = alone.ask(1), other.ask(1)
            assert [t.arm for t in mine] == [t.arm for t in theirs]
            if not mine:
                break
            reward = rewards.normal(MEANS[mine[0].arm], SIGMA)
            alone.tell(mine[0], reward)
            other.tell(theirs[0], reward)
    with Study.open(place, "turns") as other:
        a, b = alone.identification(), other.identification()
        assert a.to_dict() == b.to_dict()
        np.testing.assert_array_equal(a.lower, b.lower)
        np.testing.assert_array_equal(a.means, b.means)


def test_two_open_handles_stay_in_step(place: str) -> None:
    one = make(place)
    two = Study.open(place)
    rng = np.random.default_rng(1)
    for turn in range(60):
        asker, teller = (one, two) if turn % 2 else (two, one)
        for ticket in asker.ask(3):
            teller.tell(ticket, rng.normal(MEANS[ticket.arm], SIGMA))
    assert one.status() == two.status()
    assert one.verify().problems == two.verify().problems == ()


def test_same_ticket_told_twice(place: str) -> None:
    study = make(place)
    (ticket,) = study.ask(1)
    assert study.tell(ticket, 0.5).counted == 1
    again = study.tell(ticket, 0.5)
    assert (again.counted, again.repeated) == (0, 1)
    with pytest.raises(TicketError, match=r"recorded reward 0.5"):
        study.tell(ticket, 0.75)
    assert study.status().pulls == 1
    assert len(study.history()) == 1


def test_unknown_tickets_and_arms(place: str) -> None:
    study = make(place)
    with pytest.raises(TicketError, match="no ticket 7"):
        study.tell(7, 1.0)
    with pytest.raises(TicketError, match="no arm 'palm'"):
        study.tell(arm="palm", reward=1.0)
    with pytest.raises(TicketError, match="ticket or of an arm"):
        study.tell(reward=1.0)
    with pytest.raises(TicketError, match="is not a ticket"):
        study.tell(7.5, 1.0)  # type: ignore[arg-type]
    (ticket,) = study.ask(1)
    with pytest.raises(TicketError, match="is for arm 'ash', not 'elm'"):
        study.tell(Ticket(ticket.id, "elm"), 1.0)
    assert study.status().pulls == 0


@pytest.mark.parametrize(
    "reward", [float("nan"), float("inf"), -float("inf"), "1.0", None, b"1", [1.0], 1j, object()]
)
def test_odd_rewards_are_refused(place: str, reward: object) -> None:
    study = make(place)
    (ticket,) = study.ask(1)
    with pytest.raises(RewardError):
        study.tell(ticket, reward)  # type: ignore[arg-type]
    with pytest.raises(BatchError):
        study.tell_many([(ticket, reward)])  # type: ignore[list-item]
    assert study.status().pulls == 0
    study.tell(ticket, np.float32(1.5))
    assert study.history()["reward"].tolist() == [1.5]


def test_a_batch_with_one_bad_reward_counts_nothing(place: str) -> None:
    study = make(place)
    tickets = study.ask(5)
    good = [(t, 1.0) for t in tickets]
    for bad, match in [
        ((999, 1.0), "no ticket 999"),
        ((tickets[0], 2.0), r"recorded reward 1.0"),
        (("palm", 1.0), "no arm"),
        ((tickets[1], float("nan")), "not finite"),
    ]:
        with pytest.raises(BatchError, match=match) as caught:
            study.tell_many([*good, bad])  # type: ignore[list-item]
        assert caught.value.index == 5
        assert study.status().pulls == 0
    assert study.tell_many(good).counted == 5
    assert study.tell_many([*good, *good]).repeated == 10
    assert study.verify().problems == ()


def test_batch_is_spread(place: str) -> None:
    study = make(place)
    first = Counter(t.arm for t in study.ask(5))
    assert first == Counter(ARMS)
    # Nothing is known yet: the next tickets go round again.
    assert Counter(t.arm for t in study.ask(10)) == dict.fromkeys(ARMS, 2)


def test_pending_pulls_are_accounted_for(place: str) -> None:
    study = make(place)
    rng = np.random.default_rng(5)
    study.tell_many([(t, rng.normal(MEANS[t.arm], SIGMA)) for t in study.ask(5)])
    arms = [study.ask(1)[0].arm for _ in range(12)]
    assert len(set(arms)) >= 3
    assert study.status().pending == 12
    assert study.verify().problems == ()


def test_budget_is_exact(place: str) -> None:
    study = make(place, budget=23)
    tickets = study.ask(100)
    assert len(tickets) == 23
    for n in (1, None):
        with pytest.raises(AllOutError, match="ask again when a reward has come in") as error:
            study.ask(n)
        assert 86_000 < error.value.wait <= 86_400
    assert not study.status().stopped
    # While all room is promised, a reward told without asking is logged but not counted.
    assert study.tell(arm="ash", reward=0.0).surplus == 1
    study.tell_many([(t, MEANS[t.arm]) for t in tickets])
    status = study.status()
    assert (status.pulls, status.surplus, status.reason) == (23, 1, "budget")
    assert study.tell(arm="ash", reward=0.0).surplus == 1
    assert study.status().pulls == 23
    assert study.history()["status"].tolist().count("counted") == 23
    assert study.verify().problems == ()


def test_rewards_without_asking(place: str) -> None:
    study = make(place)
    rng = np.random.default_rng(2)
    for _ in range(80):
        study.tell_many([(arm, rng.normal(MEANS[arm], SIGMA)) for arm in ARMS])
    status = study.status()
    assert status.pulls == 400
    assert status.outliers == ("yew",)
    assert status.reason == "decided"
    assert study.ask(1) == []
    assert study.verify().problems == ()


def test_a_verdict_never_flips_and_a_stop_stays(place: str) -> None:
    study = make(place, ordered=False)
    spare = study.ask(5) + study.ask(5)
    study.tell_many([(t, MEANS[t.arm]) for t in spare[:5]])
    finish(study, batch=3)
    before = study.status()
    assert before.stopped
    # Rewards that would turn the answer round come too late to do so.
    for _ in range(30):
        study.tell(arm="yew", reward=-50.0)
        study.tell(arm="ash", reward=50.0)
    late = [t for t in spare[5:] if study.status().pending]
    study.tell_many([(t, 0.0) for t in late])
    after = study.status()
    assert (after.outliers, after.normal, after.reason) == (
        before.outliers,
        before.normal,
        "decided",
    )
    assert after.pulls > before.pulls
    assert Study.open(place).status() == after
    assert study.verify().problems == ()


def test_a_verdict_stays_while_the_study_goes_on(place: str) -> None:
    """The method itself takes this verdict back; the study does not."""
    study = make(place)
    for _ in range(5):
        study.tell_many([(arm, MEANS[arm]) for arm in ARMS])
    assert study.status().outliers == ("yew",)
    assert not study.status().stopped
    for _ in range(200):
        study.tell(arm="yew", reward=0.2)
    assert study._state.state.verdict[ARMS.index("yew")] != Verdict.OUTLIER
    assert study.status().outliers == ("yew",)
    with Study.open(place) as again:
        assert again.status().outliers == ("yew",)
        assert "yew" in again.identification().best_guess


def test_several_studies_in_one_database(place: str) -> None:
    make(place, name="one")
    make(place, name="two").tell(arm="ash", reward=1.0)
    with pytest.raises(StudyError, match="'one', 'two'"):
        Study.open(place)
    assert Study.open(place, "one").status().pulls == 0
    assert Study.open(place, "two").status().pulls == 1
    with pytest.raises(StudyError, match="already"):
        make(place, name="one")
    with pytest.raises(StudyError, match="no study 'three'"):
        Study.open(place, "three")


def test_bad_settings(place: str) -> None:
    for options in ({"lease": 0}, {"lease": float("nan")}, {"pause_after": 0}, {"name": ""}):
        with pytest.raises((StudyError, ProblemError)):
            make(place, **options)
    with pytest.raises(ProblemError, match="named twice"):
        Study.create(place, ["a", "b", "a"], PROBLEM)
    study = make(place)
    with pytest.raises(StudyError, match="from 1 to 1,000,000"):
        study.ask(0)
    with pytest.raises(StudyError, match="positive"):
        study.ask(1, lease=-1)


def test_threads_share_a_study(place: str) -> None:
    study = make(place, budget=200)
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            while not study.status().stopped:
                with suppress(AllOutError):
                    for ticket in study.ask(2):
                        study.tell(ticket, rng.normal(MEANS[ticket.arm] / 50, SIGMA))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert study.status().pulls == 200
    assert study.verify().problems == ()


def test_history_as_tables(place: str) -> None:
    study = make(place)
    for ticket in study.ask(3, worker="bench 1"):
        study.tell(ticket, 0.5, worker="bench 2")
    study.tell(arm="yew", reward=0.75)
    history = study.history()
    frame = history.to_pandas()
    assert frame["arm"].tolist() == ["ash", "elm", "fir", "yew"]
    assert frame["reward"].tolist() == [0.5, 0.5, 0.5, 0.75]
    assert frame["ticket"].tolist() == [1, 2, 3, 0]
    assert frame["worker"].tolist()[:3] == ["bench 2"] * 3
    assert (frame["time"] >= frame["asked"]).tolist() == [True, True, True, False]
    import pyarrow as pa

    assert pa.table(history).num_rows == 4
    assert len(make(place, name="empty").history().to_pandas()) == 0


def test_snapshots_are_a_cache(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them, or with damaged ones, a study is the same; only opening takes longer."""
    monkeypatch.setattr("standout.study.transaction.SNAPSHOT_EVENTS", 20)
    study = make(place)
    finish(study)
    study.tell_many([(arm, MEANS[arm]) for arm in ARMS * 3])
    expected = study.status()
    with study._store.read() as session:
        kept = session.snapshot(study._key)
    assert kept is not None
    number, packed, parts = kept
    assert Study.open(place).memory._kept == number
    bad = (packed[:-9], b"", packed.replace(packed[20:30], bytes(10)))
    for each in (None, *bad):
        with study._store.write() as session:
            session.drop_snapshots(study._key)
            if each is not None:
                session.put_snapshot(study._key, number, each, parts[0], is_alone=True)
        with Study.open(place) as again:
            assert again.memory._kept is None
            assert again.status() == expected
            assert again.verify().problems == ()


def test_a_process_continues_the_snapshots_of_another(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row is stored once, whichever process writes it, and no state is loaded again."""
    monkeypatch.setattr("standout.study.transaction.SNAPSHOT_EVENTS", 10)
    with make(place) as one, Study.open(place) as two:
        states = one.memory.state, two.memory.state
        for number in range(45):
            study = two if number % 15 < 7 else one
            study.tell(arm=ARMS[number % 5], reward=MEANS[ARMS[number % 5]])
        assert one.status() == two.status()
        assert (one.memory.state, two.memory.state) == states
        with one._store.read() as session:
            kept = session.snapshot(one._key)
        assert kept is not None
        assert kept[0] == one.memory._kept == 40
        afters = [snapshot._read(part)[0]["after"][0] for part in kept[2]]
        assert afters == [0, 10, 20, 30]
        with Study.open(place) as again:
            assert again.memory._kept == 40
            assert differences(again.memory.state, one.memory.state) == []
            assert again.verify().problems == ()


def test_a_large_batch_makes_a_snapshot(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else to open a study of a few large tables would count all their rewards again."""
    monkeypatch.setattr("standout.study.transaction.SNAPSHOT_ROWS", 100)
    with make(place) as study:
        for events in (2, 4):
            study.tell_many([(arm, MEANS[arm]) for arm in ARMS for _ in range(10)])
            assert study.memory._kept == (None if events == 2 else events - 2)
            study.tell_many([(arm, MEANS[arm]) for arm in ARMS for _ in range(10)])
            assert study.memory._kept == events
        with Study.open(place) as again:
            assert again.memory._kept == 4
            again.tell(arm="ash", reward=0.0)
            assert again.memory._kept == 4
            assert again.verify().problems == ()


def test_memory_of_another_past_is_dropped(place: str) -> None:
    """A store whose events are not those in memory is read again: it was restored meanwhile."""
    study, other = make(place), Study.open(place)
    study.tell_many([(arm, MEANS[arm]) for arm in ARMS])
    assert other.status().pulls == 5
    with study._store.write() as session:
        created = next(session.events(study._key, 0, 0))
        session.delete_study(Deleted(study._key, "main", 0.0, "test", "", 0, 0, ""))
        session.run("INSERT INTO standout_studies (id, name) VALUES (?, ?)", (study._key, "main"))
        session.append(study._key, [created])
    assert other.tell(arm="ash", reward=1.0).counted == 1
    assert study.status().pulls == other.status().pulls == 1
    assert study.verify().problems == other.verify().problems == ()
