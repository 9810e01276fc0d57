"""What is told twice counts once: keys, tickets, and the same words again."""

from __future__ import annotations

import pytest

from standout import Problem
from standout.errors import BatchError, KeyUsedError, ToldError
from standout.results import Receipt
from tests.study.events.playing import Play


def make() -> Play:
    return Play(problem=Problem(noise="gaussian:1", k=2))


def test_keys_of_tickets_and_of_repetitions() -> None:
    play = make()
    one, two, three = play.ask(3)
    play.tell(one, 0.5, key="k")
    assert play.tell(one.id, 0.5, key="k") == Receipt(counted=1, again=True, time=play.now)
    with pytest.raises(KeyUsedError):
        play.tell(two, 0.5, key="k")
    # Told before with another key: nothing is new, and the key remembers that.
    assert play.tell_many([(one, 0.5), (two, 0.25)], key="both") == Receipt(counted=1, repeated=1)
    assert play.tell_many([(one, 0.5), (two, 0.25)], key="both").repeated == 1
    assert play.tell(two, 0.25, key="alone") == Receipt(repeated=1)
    with pytest.raises(KeyUsedError):
        play.tell(three, 1.0, key="alone")
    # A bad batch uses no key up.
    with pytest.raises(BatchError):
        play.tell_many([(three, 1.0), ("palm", 1.0)], key="later")
    assert play.tell(three, 1.0, key="later") == Receipt(counted=1)
    play.check()


def test_a_key_gives_the_same_tickets_again() -> None:
    play = make()
    receipt, given = play.tell_and_ask([("ash", 0.0)], 2, worker="w", key="k")
    assert (receipt.counted, len(given)) == (1, 2)
    play.now += 1
    receipt, again = play.tell_and_ask([("ash", 0.0)], 2, worker="w", key="k")
    assert (receipt.again, again) == (True, given)
    assert play.state.out == 2
    # What is told by now comes no second time; then there are others.
    play.tell(given[0], 1.0)
    assert play.tell_and_ask([("ash", 0.0)], 2, worker="w", key="k")[1] == given[1:]
    play.tell(given[1], 1.0)
    other = play.tell_and_ask([("ash", 0.0)], 2, worker="w", key="k")[1]
    assert [t.id for t in other] == [3, 4]
    play.check()


def test_the_same_tickets_without_a_key() -> None:
    play = make()
    (first,) = play.ask()
    _, given = play.tell_and_ask([(first, 0.0)], 2, worker="w")
    receipt, again = play.tell_and_ask([(first, 0.0)], 2, worker="w")
    assert (receipt.repeated, again) == (1, given)
    assert [t.id for t in play.tell_and_ask([(first, 0.0)], 1, worker="x")[1]] == [4]


def test_a_lost_answer_comes_first() -> None:
    play = make()
    lost = play.ask(2, worker="w")
    number = play.state.number
    assert play.ask(2, worker="w", known=()) == lost
    assert play.state.number == number
    assert [t.id for t in play.ask(2, worker="w", known=[1])] == [2, 3]
    assert [t.id for t in play.ask(1, worker="x", known=())] == [4]
    play.check()


def test_another_value_is_refused_and_changes_nothing() -> None:
    play = make()
    one, two = play.ask(2)
    play.tell(one, 0.5)
    head = play.state.head
    for pairs in ([(two, 1.0), (one, 0.6)], [(two, 1.0), (two, 2.0)], [(two, 1.0), (9, 1.0)]):
        with pytest.raises(BatchError) as caught:
            play.tell_many(pairs)
        assert caught.value.index == 1
    assert isinstance(caught.value.__cause__, Exception)
    with pytest.raises(BatchError) as caught:
        play.tell(one, 0.6)
    assert isinstance(caught.value.__cause__, ToldError)
    assert play.tell_many([(two, 1.0), (two, 1.0)]) == Receipt(counted=1, repeated=1)
    assert head != play.state.head
    play.check()


def test_changes_happen_once_with_a_key() -> None:
    play = make()
    play.tell_many([("ash", 1.0)] * 3)
    for _ in range(2):
        play.set({"budget": 100}, key="a")
        play.void(3, value=2.0, key="b")
    assert [one.kind for one in play.state.changes] == ["set", "void"]
    with pytest.raises(KeyUsedError):
        play.set({"budget": 101}, key="a")
    with pytest.raises(KeyUsedError, match="for something else"):
        play.void(2, key="a")
    play.check()
