"""The calibration of chances, on kinds of populations that were not used to develop them.

Run it as: python benchmarks/calibration.py [--seed 1] [--runs 1] [--save FILE], or
sum saved results: python benchmarks/calibration.py FILE ...

It draws populations of 16 kinds (`populations.py`) with 5 to 3,000 arms, and asks for high, low or
both outliers. It samples them uniformly and with `focus:goal=anytime`, and computes the chances at
three budgets. For each kind it prints the expected and the actual wrong arms of the best guess, for
answers without and with a note. It has four bars for answers without a note:

- at most 1.15 times as many wrong arms as expected (beyond two standard errors, by answers);
- at most 5 % false arms on lists flagged at 5 %;
- at least 85 % of the thresholds within their 90 % interval;
- notes on at most 30 % of the answers whose usual standard error is below half the standard
  deviation of the means.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from populations import BUDGETS, KINDS, Case, adaptive, cases, threshold, truth, uniform

from standout.core.problem import Problem
from standout.estimation.estimate import estimate
from standout.estimation.evidence import Evidence
from standout.simulation import Instance

SIDES = ("high", "low", "both")
RATIO, FALSE, COVERED, UNNOTED = 1.15, 0.05, 0.85, 0.7
"""The bars: actual to expected wrong arms, false share, coverage, answers without a note."""
ERRORS = 2.0
"""Standard errors that a figure may be beyond its bar."""
ENOUGH = 5.0
"""Expected or actual wrong arms below which a kind is not judged."""


@dataclass(frozen=True)
class Answer:
    """One answer and the truth. `fineness` is the means' deviation per standard error."""

    kind: str
    noise: str
    side: str
    n_arms: int
    per_arm: int
    is_adaptive: bool
    is_noted: bool
    fineness: float
    expected: float
    actual: int
    flagged: int
    false: int
    is_covered: bool


def play_case(case: Case, seed: int) -> list[Answer]:
    """The answers on one population, drawn as often as the case says."""
    found = []
    for run in range(case.runs):
        for number, sample in enumerate((uniform, adaptive)):
            key = [seed, *map(ord, case.kind + case.noise), case.n_arms, run, number]
            rng = np.random.default_rng(key)
            instance = case.draw(rng)
            problem = Problem(noise=instance.noise, k=3, side=str(rng.choice(SIDES)))
            looks = BUDGETS[case.noise]
            for per_arm, evidence in zip(
                looks, sample(instance, problem, looks, rng), strict=False
            ):
                found.append(look(case, instance, problem, evidence, per_arm, bool(number)))
    return found


def look(
    case: Case,
    instance: Instance,
    problem: Problem,
    evidence: Evidence,
    per_arm: int,
    is_adaptive: bool,
) -> Answer:
    """The chances, compared with the truth."""
    found = estimate(problem, evidence, [str(i) for i in range(instance.n_arms)])
    true, theta = truth(instance, problem), threshold(instance, problem)
    likely = found.likely_threshold
    if problem.sides()[0] != problem.sides()[-1] and found.likely_threshold_low is None:
        raise ValueError("both sides have a threshold")
    means = instance.means
    variance = means * (1 - means) if case.noise == "bernoulli" else np.ones(len(means))
    error = float(np.median(np.sqrt(variance / np.maximum(evidence.pulls, 1))))
    slack = 1e-9 * (1.0 + abs(theta))
    return Answer(
        kind=case.kind,
        noise=case.noise,
        side=str(problem.side),
        n_arms=instance.n_arms,
        per_arm=per_arm,
        is_adaptive=is_adaptive,
        is_noted=found.note is not None,
        fineness=float(np.std(means)) / max(error, 1e-9),
        expected=found.expected_wrong,
        actual=int(((found.chance > 0.5) != true).sum()),
        flagged=len(found.flagged),
        false=sum(not true[int(arm)] for arm in found.flagged),
        is_covered=bool(likely.lower - slack <= theta <= likely.upper + slack),
    )


def column(answers: list[Answer], name: str) -> np.ndarray:
    """One field of all answers."""
    return np.array([getattr(answer, name) for answer in answers], dtype=np.float64)


def excess(top: np.ndarray, bottom: np.ndarray, bar: float) -> float:
    """By how many standard errors, clustered by answer, the sum of top exceeds bar * bottom."""
    off = top - bar * bottom
    error = float(np.sqrt(len(off))) * float(off.std()) if len(off) > 1 else 0.0
    return float(off.sum()) / error if error > 0 else 0.0


def row(title: str, answers: list[Answer]) -> tuple[str, list[str]]:
    """A line of the table, and the missed bars."""
    expected, actual = column(answers, "expected"), column(answers, "actual")
    flagged, false = column(answers, "flagged"), column(answers, "false")
    covered = column(answers, "is_covered")
    share = f"{false.sum() / flagged.sum():.1%}" if flagged.sum() else "-"
    line = (
        f"| {title} | {len(answers):,} | {expected.sum():,.1f} | {actual.sum():,.0f} "
        f"| {actual.sum() / max(expected.sum(), 1e-9):.2f} "
        f"| {flagged.sum():,.0f} | {share} | {covered.mean():.0%} |"
    )
    missed = []
    if max(actual.sum(), expected.sum()) >= ENOUGH and excess(actual, expected, RATIO) > ERRORS:
        missed.append(f"{title}: {actual.sum():.0f} wrong arms, {expected.sum():.1f} expected")
    if excess(false, flagged, FALSE) > ERRORS:
        missed.append(f"{title}: {share} of the flagged arms are wrong")
    if excess(1.0 - covered, np.ones(len(covered)), 1.0 - COVERED) > ERRORS:
        missed.append(f"{title}: {covered.mean():.0%} of the thresholds are covered")
    return line, missed


def table(title: str, groups: dict[str, list[Answer]]) -> list[str]:
    """Print a table; return the missed bars."""
    print(
        f"\n| {title} | answers | expected wrong | actual | ratio | flagged at 5 % | false "
        "| thresholds covered |\n|" + "---|" * 8
    )
    missed = []
    for name, answers in groups.items():
        if answers:
            line, more = row(name, answers)
            print(line)
            missed += more
    return missed


def by(answers: list[Answer], name: str) -> dict[str, list[Answer]]:
    """Answers by the value of a field."""
    values = dict.fromkeys(getattr(answer, name) for answer in answers)
    return {
        f"{value}": [each for each in answers if getattr(each, name) == value] for value in values
    }


def print_all(answers: list[Answer]) -> None:
    """Print all tables and the missed bars."""
    plain = [answer for answer in answers if not answer.is_noted]
    missed = table("kind, no note", by(plain, "kind"))
    for name in ("noise", "side", "n_arms", "is_adaptive"):
        table(f"{name}, no note", by(plain, name))
    table("all", {"no note": plain, "note": [each for each in answers if each.is_noted]})
    fine = [answer for answer in answers if answer.fineness > 2.0]
    share = 1.0 - float(column(fine, "is_noted").mean()) if fine else 1.0
    print(f"\nstandard error below half the deviation: {len(fine):,} answers, {share:.0%} no note")
    if share < UNNOTED:
        missed.append(f"only {share:.0%} of the fine answers carry no note")
    print("\nmissed:" if missed else "\nall bars are met")
    print("\n".join(f"- {line}" for line in missed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", type=Path, nargs="*", help="sum what --save has kept")
    parser.add_argument("--save", type=Path, help="where to keep the answers")
    parser.add_argument("--runs", type=float, default=1.0, help="how many times the usual runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=3000, help="no more arms than these")
    options = parser.parse_args()
    answers: list[Answer] = []
    for part in options.parts:
        answers += [Answer(**each) for each in json.loads(part.read_text(encoding="utf-8"))]
    for case in () if options.parts else cases():
        runs = max(1, round(options.runs * case.runs))
        if case.n_arms <= options.most:
            answers += play_case(Case(case.kind, case.noise, case.n_arms, runs), options.seed)
            if options.save is not None:
                kept = json.dumps([asdict(each) for each in answers])
                options.save.write_text(kept, encoding="utf-8")
    assert len(KINDS) >= 12
    print_all(answers)


if __name__ == "__main__":
    main()
