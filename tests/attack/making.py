"""Drawing cases: the truth first, then intervals around it."""

from __future__ import annotations

import random
from collections.abc import Sequence

from standout.core.state import NEVER
from tests.attack.cases import HUGE, INF, LABELS, MEAN_STD, SAMPLED, Case, Round


def make_case(seed: int, number: int) -> Case:
    """Case `number` of a seed; the method goes round all labels."""
    rng = random.Random(f"{seed}:{number}")
    label = LABELS[number % len(LABELS)]
    is_exact = rng.random() < 0.7
    side = rng.choice(["high", "high", "low", "both"])
    noise = _noise(rng, label)
    has_two = side == "both" and label not in MEAN_STD and rng.random() < 0.5
    n = rng.choice([3, 4, 5, 6, 7, 8, 9, 11, 12, 15, 16, rng.randint(3, 40)])
    draft = {
        "label": label,
        "side": side,
        "k": _k(rng, is_exact),
        "k_low": _k(rng, is_exact) if has_two else None,
        "mad_scale": rng.choice([1, 1, 1, 0.5, 0.25, 2]) if is_exact else rng.choice([1.4826, 0.3]),
        "tolerance": rng.choice([0, 0, 0, 0.5, 1, 2.0**-10, 30]),
        "noise": noise,
        "is_exact": is_exact,
        "truth": _truth(rng, n, is_exact, noise),
        "known": [],
        "stage": _stage(rng, label, n),
        "slack": 0.0,
        "room": rng.choice([1, 2, 3, 7, 2**62, 2**62]),
        "rounds": [],
    }
    if not is_exact:
        draft["tolerance"] *= max(map(abs, draft["truth"])) / 30
    if label.startswith("focus") and rng.random() < 0.3:
        draft["known"] = sorted(rng.sample(range(n), rng.randint(1, n)))
    if rng.random() < 0.4:
        _put_on_threshold(rng, draft)
    case = Case(**draft)
    slack = max(case.slack_needed(), 1e-6) * rng.choice([1 + 1e-9, 1 + 1e-9, 1.3, 3, 20])
    draft["slack"] = slack if case.is_sampled else 0.0
    draft["rounds"] = _rounds(rng, case)
    return Case(**draft)


def _k(rng: random.Random, is_exact: bool) -> float:
    if is_exact:
        return rng.choice([1, 1, 2, 2, 3, 5, 50])
    return rng.choice([1.0, rng.uniform(1, 4), rng.uniform(1, 50)])


def _noise(rng: random.Random, label: str) -> str:
    if label in MEAN_STD:
        return "bounded:-128,128"
    if label.startswith("focus") or "auto" in label:
        return rng.choice(["gaussian:1", "gaussian", "heavy:1", "bounded:-128,128"])
    return rng.choice(["gaussian:1", "bounded:-128,128"])


def _truth(rng: random.Random, n: int, is_exact: bool, noise: str) -> list[float]:
    kind = rng.choice(["few values", "spread", "one value", "two values", "outliers"])
    if kind == "one value":
        values = [float(rng.randint(-3, 3))] * n
    elif kind == "two values":
        values = [float(rng.choice([-2, 1])) for _ in range(n)]
    else:
        reach = 3 if kind == "few values" else 20
        values = [float(rng.randint(-reach, reach)) for _ in range(n)]
    if kind in ("one value", "outliers"):
        for i in rng.sample(range(n), rng.randint(1, max(1, n // 3))):
            values[i] = float(rng.choice([-60, 40, 60, rng.randint(-60, 60)]))
    if is_exact:
        return values
    scale = 10.0 ** rng.choice([-6, -1, 0, 0, 0])
    offset = 0.0 if noise.startswith("bounded") else rng.choice([0.0, 0.0, 100.0, -1e4])
    spread = rng.choice([0.0, 0.1, 1.0])
    return [scale * (value + offset + spread * rng.gauss(0, 1)) for value in values]


def _stage(rng: random.Random, label: str, n: int) -> list[int] | None:
    """When each arm joins those that make the threshold."""
    order = rng.sample(range(n), n)
    if "lambda" in label:
        stage = [NEVER] * n
        for i in order[: rng.randint(3, n)]:
            stage[i] = 0
        return stage
    if label not in SAMPLED:
        return None
    stage = [0] * n
    size, number = rng.randint(1, n), 1
    while size < n:
        for i in order[size:]:
            stage[i] = number
        size *= rng.choice([2, 4])
        number += 1
    return stage


def _put_on_threshold(rng: random.Random, draft: dict) -> None:  # type: ignore[type-arg]
    """Move an arm that lies above a side's threshold onto it, which leaves it in place."""
    case = Case(**draft)
    pairs = list(zip(case.signs, case.thetas(), strict=True))
    sign, at = rng.choice(pairs)
    above = [i for i, mean in enumerate(case.truth) if sign * mean > at]
    if above and abs(at) < 128:
        draft["truth"][rng.choice(above)] = sign * at


def _rounds(rng: random.Random, case: Case) -> list[Round]:
    style = rng.choice(["mixed", "mixed", "tight", "half infinite", "touching", "points"])
    share = rng.choice([0.0, 0.1, 0.5, 0.9])
    marks = [sign * (t + off) for sign, t in zip(case.signs, case.thetas(), strict=True)
             for off in (0.0, -case.tolerance, case.tolerance)]  # fmt: skip
    marks += case.truth
    rounds: list[Round] = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        lower, upper = [], []
        infinite = set(rng.sample(range(len(case.truth)), (len(case.truth) - 1) // 2))
        for i, mean in enumerate(case.truth):
            kind = style
            if style == "mixed":
                kind = rng.choice(["wide", "infinite"]) if rng.random() < share else "tight"
            elif style == "half infinite":
                kind = "infinite" if i in infinite else "tight"
            low, high = (mean, mean) if i in case.known else _ends(rng, kind, mean, marks)
            if not case.is_exact:
                low, high = min(low, mean), max(high, mean)
            if case.noise.startswith("bounded") and case.method.refines:
                low, high = max(low, -128.0), min(high, 128.0)
            if case.method.intersects and rounds:
                low, high = max(low, rounds[-1].lower[i]), min(high, rounds[-1].upper[i])
            lower.append(low)
            upper.append(high)
            marks += [end for end in (low, high) if abs(end) < HUGE]
        rounds.append(_measured(rng, case, lower, upper, rounds))
    return rounds


def _ends(
    rng: random.Random, kind: str, mean: float, marks: Sequence[float]
) -> tuple[float, float]:
    """An interval that holds `mean`."""
    if kind == "points":
        return (mean, mean) if rng.random() < 0.8 else _ends(rng, "tight", mean, marks)
    if kind == "infinite":
        return rng.choice([(-INF, INF), (-INF, INF), (-INF, mean), (mean, INF), (-INF, mean + 1)])
    if kind == "wide":
        return (
            mean - rng.choice([0.0, 8.0, 40.0, HUGE, INF]),
            mean + rng.choice([0.0, 8.0, 40.0, HUGE, INF]),
        )
    if kind == "touching" and rng.random() < 0.7:
        below = [mark for mark in marks if mark <= mean]
        above = [mark for mark in marks if mark >= mean]
        return rng.choice(below or [mean]), rng.choice(above or [mean])
    steps = (0.0, 2.0**-20, 0.25, 0.5, 1.0, 3.0)
    scale = 1.0 if abs(mean) > 1e-3 or mean == 0 else abs(mean)
    return mean - scale * rng.choice(steps), mean + scale * rng.choice(steps)


def _measured(
    rng: random.Random,
    case: Case,
    lower: list[float],
    upper: list[float],
    earlier: Sequence[Round],
) -> Round:
    """Estimates inside the intervals, and pulls; some arms with no interval were never pulled."""
    estimate, pulls = [], []
    for i, (low, high) in enumerate(zip(lower, upper, strict=True)):
        a, b = max(low, -128.0), min(high, 128.0)
        inside = (a + b) / 2 if rng.random() < 0.5 else rng.uniform(a, b)
        count = rng.choice([1, 2, 10, rng.randint(1, 5000)])
        before = earlier[-1].pulls[i] if earlier else 0
        if i in case.known:
            inside, count = low, 2**40
        elif (low, high) == (-INF, INF) and before == 0 and rng.random() < 0.5:
            inside, count = 0.0, 0
        estimate.append(min(max(inside, low), high))
        pulls.append(max(count, before))
    return Round(lower, upper, estimate, pulls)
