"""Whether chances are what they say: of arms given a chance of 0.8, do 8 of 10 stand out?

Run it as: python benchmarks/calibration.py [--runs 0.1] [--seed 1] [--svg FILE], or in parts:
python benchmarks/calibration.py --only NAME --save NAME.json (for each), and then
python benchmarks/calibration.py *.json --svg FILE to sum them.

It draws populations whose truth is known (`populations.py`), plays them with uniform and with
adaptive sampling (`focus:goal=anytime`), and prints a reliability table by tenths, expected
against actual wrong arms of the best guess, and the share of wrong arms on the lists that
promise at most 5 %. It takes about twenty minutes; `--runs` shortens it. Answers that
carry a note (the rewards do not tell how the means are spread) are counted apart:
there the answer itself says that it leans on an assumption.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from populations import Case, adaptive, cases, truth, uniform

from standout.core.problem import Problem
from standout.estimation.estimate import estimate

TENTHS = 10
LOWER, UPPER = 0.1, 0.07
"""The share that stands out may lie so far below the lower, or above the upper, end of a tenth."""
EVENTS, FACTOR = 200, 1.5
"""Expected wrong arms must be within a factor where so many events are counted."""
LARGEST_FALSE_SHARE = 0.06
PROMISES = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, float("inf"))
"""Answers are grouped by how many wrong arms they expect, at most: what `--until` goes by."""
FEWEST = 100
"""Arms in a tenth below which its share is not judged."""
FEWEST_SHOWN = 20
"""The same for the picture."""


@dataclass
class Tally:
    """Sums over many answers."""

    count: np.ndarray = field(default_factory=lambda: np.zeros(TENTHS))
    said: np.ndarray = field(default_factory=lambda: np.zeros(TENTHS))
    true: np.ndarray = field(default_factory=lambda: np.zeros(TENTHS))
    expected: float = 0.0
    actual: int = 0
    flagged: int = 0
    false: int = 0
    outliers: int = 0
    covered: int = 0
    answers: int = 0
    promised: np.ndarray = field(default_factory=lambda: np.zeros((len(PROMISES), 3)))

    def add(self, chance: np.ndarray, true: np.ndarray, found, theta: float) -> None:
        """Count one answer; arms are named by their positions."""
        tenth = np.minimum((chance * TENTHS).astype(int), TENTHS - 1)
        self.count += np.bincount(tenth, minlength=TENTHS)
        self.said += np.bincount(tenth, weights=chance, minlength=TENTHS)
        self.true += np.bincount(tenth, weights=true, minlength=TENTHS)
        self.expected += found.expected_wrong
        self.actual += int(((chance > 0.5) != true).sum())
        self.flagged += len(found.flagged)
        self.false += sum(not true[int(arm)] for arm in found.flagged)
        self.outliers += int(true.sum())
        self.covered += found.likely_threshold.lower <= theta <= found.likely_threshold.upper
        self.answers += 1
        group = int(np.searchsorted(PROMISES, found.expected_wrong))
        self.promised[group] += (1, found.expected_wrong, ((chance > 0.5) != true).sum())

    def sum_with(self, other: Tally) -> None:
        """Count what another has counted, too."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def play_case(case: Case, runs: int, seed: int, tallies: dict) -> None:
    """Play a population and count its answers."""
    for run in range(runs):
        ways = (("uniform", uniform), ("adaptive", adaptive))[: 1 + case.is_adaptive]
        for number, (way, sample) in enumerate(ways):
            name = sum(map(ord, case.name))
            rng = np.random.default_rng([seed, name, case.n_arms, run, number])
            instance = case.draw(rng)
            problem = Problem(noise=instance.noise, k=3)
            true, theta = truth(instance, problem), instance.threshold(problem)
            names = [str(i) for i in range(instance.n_arms)]
            evidence = sample(instance, problem, case.per_arm, rng)
            for per_arm, each in zip(case.per_arm, evidence, strict=False):
                found = estimate(problem, each, names)
                key = (way, case.name, case.n_arms, per_arm, found.note is not None)
                tallies[key].add(found.chance, true, found, theta)


def save(path: Path, tallies: dict) -> None:
    """Keep what was counted, to be summed with other parts."""
    rows = [
        [*key, {name: np.asarray(value).tolist() for name, value in vars(tally).items()}]
        for key, tally in tallies.items()
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")


def load(paths: list[Path], tallies: dict) -> None:
    """Add parts that were kept."""
    for path in paths:
        for *key, values in json.loads(path.read_text(encoding="utf-8")):
            tallies[tuple(key)].sum_with(Tally(**{n: np.array(v) for n, v in values.items()}))


def pooled(tallies: dict, way: str | None = None, noted: bool | None = None) -> Tally:
    """The sum of some."""
    total = Tally()
    for key, tally in tallies.items():
        if way in (None, key[0]) and noted in (None, key[-1]):
            total.sum_with(tally)
    return total


def print_reliability(title: str, tally: Tally) -> list[str]:
    """The table by tenths; what is out of bounds."""
    print(f"\n{title}: {tally.answers:,} answers")
    print("| chance | arms | said | stand out |\n|---|---|---|---|")
    missed = []
    for tenth in range(TENTHS):
        low, high = tenth / TENTHS, (tenth + 1) / TENTHS
        count = tally.count[tenth]
        if not count:
            continue
        said, share = tally.said[tenth] / count, tally.true[tenth] / count
        is_off = count >= FEWEST and not low - LOWER <= share <= high + UPPER
        print(f"| {low:.1f} to {high:.1f} | {count:,.0f} | {said:.3f} | {share:.3f} |")
        if is_off:
            missed.append(f"{title}: of arms at {said:.2f}, {share:.2f} stand out")
    share = tally.false / max(1, tally.flagged)
    print(
        f"\nflagged at 5 %: {tally.flagged:,} arms, {share:.1%} wrong; "
        f"wrong arms of the best guess: {tally.expected:,.0f} expected, {tally.actual:,} actual; "
        f"threshold within its 90 % interval: {tally.covered / max(1, tally.answers):.0%}"
    )
    if share > LARGEST_FALSE_SHARE:
        missed.append(f"{title}: {share:.1%} of the flagged arms are wrong")
    return missed


def print_promises(title: str, tally: Tally) -> None:
    """Wrong arms per answer, expected and actual, by how many are expected."""
    print(f"\n{title}\n| expected at most | answers | expected | actual |\n|---|---|---|---|")
    for most, (count, expected, actual) in zip(PROMISES, tally.promised, strict=True):
        if count:
            means = f"{expected / count:.2f} | {actual / count:.2f}"
            print(f"| {'more' if most == np.inf else most} | {count:,.0f} | {means} |")


def print_cases(tallies: dict) -> list[str]:
    """A line per population, way and budget; what is out of bounds."""
    print(
        "\n| population | arms | pulls per arm | sampling | note | stand out | wrong: expected "
        "| actual | flagged | wrong among them |\n|" + "---|" * 10
    )
    missed = []
    for (way, name, n_arms, per_arm, noted), tally in sorted(
        tallies.items(), key=lambda item: (item[0][1:4], item[0][0], item[0][4])
    ):
        share = f"{tally.false / tally.flagged:.1%}" if tally.flagged else "-"
        print(
            f"| {name} | {n_arms:,} | {per_arm} | {way} | {'yes' if noted else 'no'} "
            f"| {tally.outliers:,} | {tally.expected:,.1f} | {tally.actual:,} "
            f"| {tally.flagged:,} | {share} |"
        )
        ratio = tally.expected / max(tally.actual, 1)
        if max(tally.actual, tally.expected) > EVENTS and not 1 / FACTOR <= ratio <= FACTOR:
            missed.append(
                f"{name}, {n_arms:,} arms, {per_arm} per arm, {way}{', noted' * noted}: "
                f"{tally.expected:,.0f} wrong arms expected, {tally.actual:,} actual"
            )
    return missed


def print_populations(tallies: dict) -> None:
    """The cases summed over numbers of arms, budgets and ways of sampling."""
    print(
        "\n| population | note | stand out | wrong arms of the best guess: expected | actual "
        "| flagged at 5 % | wrong among them |\n|" + "---|" * 7
    )
    for name in sorted({key[1] for key in tallies}):
        for noted in (False, True):
            some = {k: t for k, t in tallies.items() if k[1] == name and k[-1] == noted}
            if some:
                tally = pooled(some)
                share = f"{tally.false / tally.flagged:.1%}" if tally.flagged else "-"
                print(
                    f"| {name} | {'yes' if noted else 'no'} | {tally.outliers:,} "
                    f"| {tally.expected:,.0f} | {tally.actual:,} | {tally.flagged:,} | {share} |"
                )


def diagram(tallies: dict) -> str:
    """The reliability diagram as an SVG."""
    size, left = 320, 44
    colours = {"uniform": "#1f6feb", "adaptive": "#c2410c"}

    def x(value: float) -> float:
        return round(left + value * size, 1)

    def y(value: float) -> float:
        return round(10 + (1 - value) * size, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + size + 14} {size + 54}" '
        'font-family="sans-serif" font-size="11" role="img" '
        'aria-label="Reliability of chances: share that stands out against chance">',
        f'<path d="M{x(0)} {y(0)}L{x(1)} {y(1)}" stroke="#999" stroke-dasharray="4 3"/>',
        f'<path d="M{x(0)} {y(1)}V{y(0)}H{x(1)}" fill="none" stroke="#444"/>',
    ]
    for tick in range(0, TENTHS + 1, 2):
        value = tick / TENTHS
        parts.append(f'<text x="{x(value)}" y="{y(0) + 16}" text-anchor="middle">{value}</text>')
        parts.append(f'<text x="{left - 8}" y="{y(value) + 4}" text-anchor="end">{value}</text>')
    parts.append(f'<text x="{x(0.5)}" y="{size + 44}" text-anchor="middle">chance said</text>')
    for number, (way, colour) in enumerate(colours.items()):
        tally = pooled(tallies, way, noted=False)
        kept = tally.count >= FEWEST_SHOWN
        for said, share in zip(
            tally.said[kept] / tally.count[kept], tally.true[kept] / tally.count[kept], strict=True
        ):
            parts.append(f'<circle cx="{x(said)}" cy="{y(share)}" r="4" fill="{colour}"/>')
        parts.append(
            f'<circle cx="{x(0.05)}" cy="{y(0.95 - 0.06 * number)}" r="4" fill="{colour}"/>'
        )
        words = f"{way} sampling: share that stands out"
        parts.append(f'<text x="{x(0.08)}" y="{y(0.95 - 0.06 * number) + 4}">{words}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", type=Path, nargs="*", help="sum what --save has kept")
    parser.add_argument("--save", type=Path, help="where to keep what was counted")
    parser.add_argument("--runs", type=float, default=1.0, help="share of the runs to play")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--svg", type=Path, help="where to write the reliability diagram")
    parser.add_argument("--only", default="", help="those with this in 'NAME, N arms'")
    options = parser.parse_args()
    tallies: dict = defaultdict(Tally)
    load(options.parts, tallies)
    for case in cases():
        if options.only in f"{case.name}, {case.n_arms} arms" and not options.parts:
            print(f"{case.name}, {case.n_arms:,} arms", file=sys.stderr, flush=True)
            play_case(case, max(1, round(options.runs * case.runs)), options.seed, tallies)
    if options.save is not None:
        save(options.save, tallies)
    missed = print_cases(tallies)
    for way in ("uniform", "adaptive"):
        missed += print_reliability(f"{way} sampling, no note", pooled(tallies, way, noted=False))
    print_reliability("answers with a note", pooled(tallies, noted=True))
    print_reliability("all answers", pooled(tallies))
    print_promises("wrong arms per answer, no note", pooled(tallies, noted=False))
    print_promises("wrong arms per answer, with a note", pooled(tallies, noted=True))
    print_populations(tallies)
    if options.svg is not None:
        options.svg.write_text(diagram(tallies), encoding="utf-8")
    print("\nout of bounds:" if missed else "\nall within bounds")
    print("\n".join(f"- {line}" for line in missed))


if __name__ == "__main__":
    main()
