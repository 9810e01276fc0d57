"""If every arm's interval holds its mean, theta's holds theta and every verdict is right."""

from __future__ import annotations

import numba
import pytest

from tests.attack import logic
from tests.attack.__main__ import main
from tests.attack.cases import HUGE, INF, LABELS, MEAN_STD, Case, Round
from tests.attack.hands import Hand
from tests.attack.making import make_case
from tests.attack.memory import Strict
from tests.attack.watching import Count

PARTS = 8
CASES = 12_600
"""Some 1.7 states each."""
IS_PLAIN = bool(numba.config.DISABLE_JIT)


@pytest.mark.skipif(IS_PLAIN, reason="the strict attack is for plain kernels")
@pytest.mark.parametrize("part", range(PARTS))
def test_random_intervals(part: int) -> None:
    tally = logic.Tally()
    size = CASES // PARTS
    found = logic.attack(1, range(part * size, (part + 1) * size), tally, most=3)
    assert not found, "\n".join(map(str, found))
    # None of it was empty.
    assert sum(tally.states.values()) >= 20_000 // PARTS
    assert set(tally.states) == set(LABELS)
    assert all(tally.verdicts[label] > 0 for label in LABELS if label not in MEAN_STD)
    assert all(tally.choices[label] > 0 for label in LABELS)


@pytest.mark.kernel
@pytest.mark.skipif(not IS_PLAIN, reason="compiled kernels do not check an index")
@pytest.mark.parametrize("part", range(4))
def test_no_index_is_out_of_bounds(part: int) -> None:
    for number in range(300 * part, 300 * (part + 1)):
        case = make_case(2, number)
        faults = logic.play(case, kind=Strict)
        assert not faults, logic.shrunk(case, faults[0], f"2:{number}")


# Plain kernels play a quarter: their answers are those of the compiled ones (each kernel has its
# twin), and the strict attack watches their indices.
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.kernel), 1, 2, 3])
def test_runs_by_hand(seed: int) -> None:
    count = Count()
    for number in range(156):
        Hand(seed, number).play(count)
    assert not count.faults, "\n".join(count.faults[:5])
    assert count.share_held() > 0.8
    assert sum(count.verdicts.values()) > 200


@pytest.mark.kernel
@pytest.mark.parametrize("label", ["focus", "roai-elim:range=exact", "roai-elim"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_huge_ends_do_not_swallow_small_ones(label: str, sign: float) -> None:
    """The median may be as low as -1e90, and then so is the MAD: theta itself is small."""
    ends = [(-HUGE, -2.0), (-7.0, 1.0), (-INF, 0.0)]
    ends = ends if sign > 0 else [(-upper, -lower) for lower, upper in ends]
    truth = [-2.0 * sign, 1.0 * sign, 0.0]
    lower, upper = (list(column) for column in zip(*ends, strict=True))
    case = Case(
        label=label, side="both", k=1, k_low=None, mad_scale=1, tolerance=0, noise="gaussian:1",
        is_exact=True, truth=truth, known=[], stage=None, slack=0.0, room=1,
        rounds=[Round(lower, upper, truth, [5, 5, 5])],
    )  # fmt: skip
    assert logic.play(case) == []


def test_the_attack_has_teeth(monkeypatch: pytest.MonkeyPatch) -> None:
    """A truth that is off by a little is found out: the comparison is not an empty one."""
    thetas = logic.Case.thetas
    monkeypatch.setattr(logic.Case, "thetas", lambda case: [at + 0.5 for at in thetas(case)])
    assert len(logic.attack(1, range(280), logic.Tally())) > 10


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--states", "100", "--runs", "26", "--seed", "3"]) == 0
    printed = capsys.readouterr().out
    assert "roai-lucb:range=exact" in printed
    assert "0 counterexamples" in printed
    assert main(["--case", "3:1"]) == 0
