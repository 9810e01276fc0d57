"""What holds for every method of the registry, whatever its rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from standout.core.engine import _update_verdicts, best_guess
from standout.core.kinds import Verdict
from standout.core.method import Method
from standout.core.methods import METHODS
from standout.core.noise import Gaussian
from standout.core.problem import Problem, Side
from standout.core.run import NO_LIMIT, Run, start_state
from standout.core.state import (
    PULLS,
    ROUNDS,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    UNDECIDED,
    new_state,
)
from standout.results import StopReason
from standout.simulation.play import play
from standout.simulation.rewards import draw, rewards_of
from tests.driving import NAMES, PROVING, VARIANTS, Tape, drive, new_run, problem_for, spread_means
from tests.naive.verdicts import verdict

ROUNDS_PLAYED = 200
labels = [method.label() for method in VARIANTS]
every_method = pytest.mark.parametrize("name", NAMES)
every_variant = pytest.mark.parametrize("method", VARIANTS, ids=labels)
CYCLIC = tuple(METHODS[name].rule for name in ("rr", "wrr"))
NO_CHECKPOINTS = np.zeros(0, dtype=np.int64)


def compiled(method: Method, n: int, seed: int):  # type: ignore[no-untyped-def]
    """All that `play` needs, for rewards of the method's own noise."""
    problem = problem_for(method)
    means = np.array(spread_means(n))
    rewards = rewards_of(means, Gaussian(0.05), None)
    rule_rng = np.random.default_rng(seed)
    state = start_state(problem, method, n, rule_rng)
    reward_rng = np.random.default_rng(seed + 1)
    return method.spec(problem, n), state, rewards, reward_rng, rule_rng


@pytest.mark.kernel
@pytest.mark.parametrize("n", [9, 10])
@every_variant
def test_hand_stepping_and_the_compiled_loop_agree(method: Method, n: int) -> None:
    spec, state, rewards, reward_rng, rule_rng = compiled(method, n, seed=11)
    run = new_run(method, n, seed=11)
    by_hand_rng = np.random.default_rng(12)
    guesses = np.zeros((0, n), dtype=np.bool_)
    for _ in range(40):
        before = state.pulls.copy()
        play(
            spec, state, rewards, NO_LIMIT, 1, NO_CHECKPOINTS, 0, guesses, reward_rng, rule_rng
        )  # fmt: skip
        history = drive(run, lambda arm: draw(rewards, arm, by_hand_rng), rounds=1)
        chosen = dict(history[0]) if history else {}
        assert (state.pulls - before).tolist() == [chosen.get(i, 0) for i in range(n)]
    assert run.state.sums.tolist() == state.sums.tolist()
    assert run.state.bounds.tolist() == state.bounds.tolist()
    assert run.state.verdict.tolist() == state.verdict.tolist()
    assert run.state.counters.tolist() == state.counters.tolist()


@pytest.mark.kernel
@pytest.mark.parametrize("n", [9, 10])
@every_method
def test_low_is_the_mirror_of_high(name: str, n: int) -> None:
    high = new_run(METHODS[name], n)
    low = new_run(METHODS[name], n, side=Side.LOW)
    tape, mirrored = Tape(spread_means(n)), Tape(spread_means(n))
    one = drive(high, tape.next, ROUNDS_PLAYED)
    other = drive(low, lambda arm: -mirrored.next(arm), ROUNDS_PLAYED)
    assert one == other
    a, b = high.identification(), low.identification()
    assert (a.outliers, a.normal, a.undecided) == (b.outliers, b.normal, b.undecided)
    assert a.best_guess == b.best_guess
    assert (a.threshold.lower, a.threshold.upper) == (-b.threshold.upper, -b.threshold.lower)
    assert a.threshold_estimate == -b.threshold_estimate
    assert a.means.tolist() == (-b.means).tolist()
    assert a.lower.tolist() == (-b.upper).tolist()
    assert a.upper.tolist() == (-b.lower).tolist()


@pytest.mark.parametrize("n", [9, 10])
@pytest.mark.parametrize(
    # joint adds costs up in the order of the arms, and what rounds otherwise may choose otherwise;
    # the threshold of ade takes more pulls than the tape has.
    "name",
    [name for name in NAMES if METHODS[name].rule not in CYCLIC and name not in ("ade", *PROVING)],
)
def test_permuted_arms_give_a_permuted_answer(name: str, n: int) -> None:
    """Exactly so where the rule draws no random number: only ties need one."""
    method = METHODS[name]
    means = spread_means(n)
    order = np.random.default_rng(8).permutation(n)
    first, second = new_run(method, n), new_run(method, n)
    untouched = first.rng.bit_generator.state
    tape, permuted = Tape(means), Tape(means)
    one = drive(first, tape.next)
    other = drive(second, lambda arm: permuted.next(int(order[arm])))
    truth = int(np.argmax(means))
    assert first.identification().outliers == (f"arm-{truth}",)
    place = order.tolist().index(truth)
    assert second.identification().outliers == (f"arm-{place}",)
    if first.rng.bit_generator.state == untouched:
        back = [[(int(order[arm]), amount) for arm, amount in chosen] for chosen in other]
        assert [set(chosen) for chosen in one] == [set(chosen) for chosen in back]
    else:
        assert name not in ("roai-lucb", "roai-elim")


@pytest.mark.parametrize("budget", [1, 2, 8, 9, 10, 57, 123])
@every_variant
def test_the_budget_is_exact(method: Method, budget: int) -> None:
    n = 9
    run = new_run(method, n, budget=budget)
    tape = Tape([0.1 * i for i in range(n)])  # takes long: nothing stands out clearly
    drive(run, tape.next)
    answer = run.identification()
    assert answer.reason in (StopReason.BUDGET, StopReason.DECIDED)
    assert answer.pulls == sum(answer.pulls_by_arm) == sum(tape.pulls) <= budget
    if answer.reason is StopReason.BUDGET:
        assert answer.pulls == budget
    spec, state, rewards, reward_rng, rule_rng = compiled(method, n, seed=3)
    guesses = np.zeros((0, n), dtype=np.bool_)
    play(
        spec, state, rewards, budget, 10**9, NO_CHECKPOINTS, 0, guesses, reward_rng, rule_rng
    )  # fmt: skip
    assert state.counters[PULLS] == budget or state.counters[UNDECIDED] == 0


@every_method
def test_a_tiny_budget_gives_an_answer(name: str) -> None:
    run = new_run(METHODS[name], 9, budget=4)
    drive(run, Tape(spread_means(9)).next)
    answer = run.identification()
    assert answer.outliers == answer.normal == answer.best_guess == ()
    assert len(answer.undecided) == 9
    assert np.isnan(answer.means).sum() == (answer.pulls_by_arm == 0).sum() > 0
    assert answer.threshold.lower == -np.inf
    assert answer.threshold.upper == np.inf


def play_all(method: Method, n: int, budget: int, checkpoints: list[int], slices: int):  # type: ignore[no-untyped-def]
    spec, state, rewards, reward_rng, rule_rng = compiled(method, n, seed=21)
    marks = np.array(checkpoints, dtype=np.int64)
    guesses = np.zeros((len(marks), n), dtype=np.bool_)
    passed = 0
    while state.counters[UNDECIDED] > 0 and state.counters[PULLS] < budget:
        passed = play(
            spec, state, rewards, budget, slices, marks, passed, guesses, reward_rng, rule_rng
        )  # fmt: skip
    assert passed == len(marks)
    guess = np.zeros(n, dtype=np.bool_)
    best_guess(spec, state, guess)
    return state, guesses, guess


@pytest.mark.kernel
@every_variant
def test_checkpoints_and_slices_do_not_change_a_run(method: Method) -> None:
    marks = [1, 9, 10, 50, 51, 200, 300, 10**6]
    plain, _, _ = play_all(method, 10, 300, [], 10**9)
    marked, guesses, guess = play_all(method, 10, 300, marks, 10**9)
    sliced, sliced_guesses, _ = play_all(method, 10, 300, marks, 3)
    for state in (marked, sliced):
        assert state.sums.tolist() == plain.sums.tolist()
        assert state.counters[ROUNDS] == plain.counters[ROUNDS]
        assert state.verdict.tolist() == plain.verdict.tolist()
    assert guesses.tolist() == sliced_guesses.tolist()
    assert not guesses[0].any()
    assert guesses[-1].tolist() == guess.tolist()


@every_method
def test_a_checkpoint_is_the_answer_of_the_last_complete_round(name: str) -> None:
    method = METHODS[name]
    marks = list(range(1, 301, 7))
    _, guesses, _ = play_all(method, 10, 300, marks, 10**9)
    spec, state, rewards, reward_rng, rule_rng = compiled(method, 10, seed=21)
    by_pulls = {0: np.zeros(10, dtype=np.bool_)}
    empty = np.zeros((0, 10), dtype=np.bool_)
    while state.counters[UNDECIDED] > 0 and state.counters[PULLS] < 300:
        play(spec, state, rewards, 300, 1, NO_CHECKPOINTS, 0, empty, reward_rng, rule_rng)
        guess = np.zeros(10, dtype=np.bool_)
        best_guess(spec, state, guess)
        by_pulls[int(state.counters[PULLS])] = guess
    for mark, found in zip(marks, guesses, strict=True):
        latest = max(pulls for pulls in by_pulls if pulls <= mark)
        assert found.tolist() == by_pulls[latest].tolist()


@pytest.mark.kernel
@every_variant
def test_batch_and_growth(method: Method) -> None:
    run = new_run(method, 9)
    tape = Tape(spread_means(9))
    first = drive(run, tape.next, 1)
    assert sorted(arm for arm, _ in first[0]) == list(range(9))
    assert len({amount for _, amount in first[0]}) == 1
    for _ in range(60):
        before = list(tape.pulls)
        for chosen in drive(run, tape.next, 1):
            for arm, amount in chosen:
                assert amount == max(method.batch, int(method.growth * before[arm]))
                assert tape.pulls[arm] == before[arm] + amount


@every_method
def test_a_decided_run_chooses_nothing_more(name: str) -> None:
    n = 10
    run = new_run(METHODS[name], n)
    _, _, rewards, reward_rng, _ = compiled(METHODS[name], n, seed=5)
    guesses = np.zeros((0, n), dtype=np.bool_)
    play(
        run.spec, run.state, rewards, 10**7, 10**7, NO_CHECKPOINTS, 0, guesses, reward_rng, run.rng
    )  # fmt: skip
    assert run.is_decided
    assert run.choose() == []
    answer = run.identification()
    assert answer.reason is StopReason.DECIDED
    assert answer.outliers == (f"arm-{np.argmax(spread_means(n))}",)
    assert answer.undecided == ()
    assert answer.best_guess == answer.outliers
    assert sorted(answer.outliers + answer.normal) == sorted(run.arms)
    assert (answer.lower <= answer.means).all()
    assert (answer.means <= answer.upper).all()


@every_method
def test_equal_rewards_never_decide(name: str) -> None:
    """All means equal: the MAD is 0 and every arm lies on the threshold. No answer exists."""
    run = new_run(METHODS[name], 9, budget=2000)
    drive(run, lambda arm: 0.25)
    answer = run.identification()
    assert answer.reason is StopReason.BUDGET
    assert len(answer.undecided) == 9


def test_the_same_seed_gives_the_same_run() -> None:
    def play_once(seed: int) -> list[list[tuple[int, int]]]:
        run = new_run(METHODS["roai-lucb-released"], 9, seed=seed)
        return drive(run, Tape(spread_means(9)).next, 50)

    assert play_once(1) == play_once(1) != play_once(2)


def test_an_unknown_arm() -> None:
    run = new_run(METHODS["random"], 3)
    with pytest.raises(ValueError, match="no arm 'x' in this run"):
        run.tell("x", 0.0)


@pytest.mark.parametrize("budget", [-3, 2.5])
def test_budgets_that_make_no_sense(budget: float) -> None:
    method = METHODS["random"]
    with pytest.raises(ValueError, match="budget must be a whole number of at least 0 pulls"):
        Run(problem_for(method), "abc", method, np.random.default_rng(0), budget=budget)  # type: ignore[arg-type]


@pytest.mark.kernel
@pytest.mark.parametrize("signs", [(1.0,), (-1.0,), (1.0, -1.0)])
def test_verdicts_against_the_slow_twin(signs: tuple[float, ...]) -> None:
    rng = np.random.default_rng(len(signs))
    values = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, -np.inf, np.inf, np.nan])
    some = METHODS["random"].spec(Problem(noise="bernoulli"), 3)
    for case in range(300):
        n = int(rng.integers(1, 40))
        keeps, tolerance = bool(case % 2), float(rng.choice([0.0, 0.5, 3.0]))
        spec = replace(some, n_arms=n, keeps_decisions=keeps, tolerance=tolerance)
        state = new_state(n, signs, (3.0,) * len(signs))
        for numbers in (state.lower, state.upper, state.estimate, state.bounds):
            numbers[...] = rng.choice(values if case % 3 else values[:6], numbers.shape)
        state.verdict[:] = before = rng.integers(0, 3, n)
        _update_verdicts(spec, state)
        ends = state.bounds[:, [THRESHOLD_LOWER, THRESHOLD_UPPER, THRESHOLD]].tolist()
        for arm in range(n):
            arms = [
                (lower[arm], upper[arm], estimate[arm], *of_side)
                for lower, upper, estimate, of_side in zip(
                    state.lower, state.upper, state.estimate, ends, strict=True
                )
            ]
            expected = Verdict[verdict(arms, tolerance).upper()]
            if keeps and before[arm]:
                expected = Verdict(before[arm])
            assert state.verdict[arm] == expected
        assert state.counters[UNDECIDED] == np.count_nonzero(state.verdict == 0)
