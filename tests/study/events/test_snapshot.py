"""Snapshots: the state comes back to the last bit, or the caller is told to fold the events."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from standout import Problem
from standout.study.events import snapshot
from standout.study.events.fold import differences
from standout.study.events.snapshot import pack, unpack
from standout.study.events.tables import RewardStatus
from tests.study.events.playing import Play

ARMS = tuple("abcdefgh")
MEANS = dict(zip(ARMS, (0.1, 0.2, 0.2, 0.25, 0.3, 0.3, 0.35, 2.0), strict=True))
METHODS = ("focus", "focus:goal=anytime", "joint", "roai-elim", "roai-lucb", "wrr", "rr")


def step(play: Play, rng: np.random.Generator) -> None:
    """Some come at once, most come late, in any order; some fail."""
    play.now += 1
    out = list(play.state.tickets.open)
    rng.shuffle(out)
    told = out[: int(rng.integers(0, 5))]
    pairs = [(t, rng.normal(MEANS[ARMS[play.state.tickets.arm[t - 1]]], 0.2)) for t in told]
    play.tell_and_ask([("a", rng.normal(0.1, 0.2)), *pairs], int(rng.integers(1, 4)))
    if rng.random() < 0.1 and play.state.tickets.open:
        play.fail(next(iter(play.state.tickets.open)), "broken")
    if play.state.look is not None and rng.random() < 0.02:
        play.look()
    if rng.random() < 0.03:
        counted = np.flatnonzero(play.statuses() == np.array(RewardStatus.COUNTED))
        if len(counted):
            play.void(int(rng.choice(counted)) + 1, value=rng.choice([None, 0.3]))


@pytest.mark.parametrize("method", METHODS)
def test_who_goes_on_from_snapshots_stands_where_others_do(method: str) -> None:
    rng = np.random.default_rng(5)
    noise = "bounded:-3,5" if method in ("rr", "wrr") else "gaussian:0.2"
    play = Play(ARMS, Problem(noise=noise, k=2), method, until="errors=0.001", lease=9.0)
    for number in range(60):
        step(play, rng)
        if number % 7 == 3:
            play.reopen()
    play.check()
    assert len(play.parts) > 7


def test_parts_that_overlap_do_no_harm_and_one_that_is_missing_does() -> None:
    rng = np.random.default_rng(6)
    play = Play(ARMS, Problem(noise="gaussian:0.2", k=2))
    packed, before = [], (0, 0)
    for _ in range(4):
        for _ in range(20):
            step(play, rng)
        play.state.packed = before
        packed.append(pack(play.state))
        before = packed[-1].ends
    parts, last = [each.part for each in packed], packed[-1]
    play.state.packed = (0, 0)
    again = pack(play.state).part
    for fitting in (parts, [*parts[:2], again], [again], [parts[0], *parts]):
        assert differences(unpack(play.definition, last.state, fitting), play.state) == []
    for wrong in ([], parts[1:], [parts[0], *parts[2:]], parts[:-1]):
        with pytest.raises(ValueError, match=r"missing|fit"):
            unpack(play.definition, last.state, wrong)


def test_what_is_no_snapshot_of_this_study(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Play(ARMS, Problem(noise="gaussian:0.2", k=2))
    for _ in range(10):
        step(play, np.random.default_rng(7))
    found = pack(play.state)
    other = Play(ARMS[:5], Problem(noise="gaussian:0.2", k=2)).definition
    plain = zlib.decompress(found.state)
    for definition, content in (
        (play.definition, b""),
        (play.definition, b"no snapshot"),
        (play.definition, found.state[: len(found.state) // 2]),
        (play.definition, zlib.compress(plain[:-9])),
        (play.definition, zlib.compress(plain.replace(b'"number"', b'"nomber"'))),
        (other, found.state),
    ):
        with pytest.raises(ValueError):  # noqa: PT011
            unpack(definition, content, [found.part])
    for name in ("ENGINE", "FORM"):
        with monkeypatch.context() as patch:
            patch.setattr(snapshot, name, 99)
            with pytest.raises(ValueError, match="another version"):
                unpack(play.definition, found.state, [found.part])
    assert differences(unpack(play.definition, found.state, [found.part]), play.state) == []
