"""A longer attack than the tests make, with a table of what was tried.

python -m tests.attack --states 200000 --seed 7
python -m tests.attack --states 0 --runs 5000 --walks 500 --noise-runs 50
python -m tests.attack --case 7:12345
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.attack import delays, logic, noise
from tests.attack.hands import Hand
from tests.attack.making import make_case
from tests.attack.walks import Walk
from tests.attack.watching import Count

MOST_SHOWN = 20


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    texts = [[str(cell) for cell in row] for row in [heads, *rows]]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in texts]
    return "\n".join(line.rstrip() for line in lines)


def attack_logic(seed: int, states: int) -> list[str]:
    tally, found, number = logic.Tally(), [], 0
    while sum(tally.states.values()) < states:
        found += logic.attack(seed, range(number, number + 500), tally)
        number += 500
    print(f"\nLogic: {sum(tally.states.values())} states, every interval holds its mean\n")
    rows = [(label, n, tally.verdicts[label], tally.choices[label])
            for label, n in tally.states.items()]  # fmt: skip
    print(table(("method", "states", "verdicts", "arms chosen"), rows))
    print("sides:", dict(tally.sides), " noise:", dict(tally.noises))
    found.sort(key=lambda fault: len(fault.case.truth))
    return [str(fault) for fault in found]


def show_count(title: str, count: Count) -> list[str]:
    print(f"\n{title}: {sum(count.runs.values())}, premise held in {count.share_held():.1%}\n")
    rows = [(label, n, count.held[label], count.verdicts[label]) for label, n in count.runs.items()]
    print(table(("method", "runs", "held", "verdicts"), rows))
    return count.faults


def attack_hands(seed: int, runs: int) -> list[str]:
    count = Count()
    for number in range(runs):
        Hand(seed, number).play(count)
    return show_count("Runs by hand", count)


def attack_walks(seed: int, walks: int) -> list[str]:
    count = Count()
    with tempfile.TemporaryDirectory(prefix="standout-attack-") as folder:
        for number in range(walks):
            Walk(str(Path(folder) / "walks.db"), seed, number).play(count)
    return show_count("Studies", count)


def attack_noise(seed: int, runs: int) -> list[str]:
    score = noise.Score()
    noise.attack(seed, runs, score)
    delays.attack_runs(score, list(noise.settings()), seed, max(1, runs // 10))
    print(f"\nNoise at delta = {noise.DELTA:g}: runs with a wrong verdict, with a missed mean\n")
    rows = [(group, n, score.wrong[group], score.missed[group], score.decided[group],
             noise.most_failures(n, noise.DELTA)) for group, n in score.runs.items()]  # fmt: skip
    print(table(("group", "runs", "wrong", "missed", "decided", "most allowed"), rows))
    return score.faults()


def show_case(name: str) -> list[str]:
    seed, number = map(int, name.split(":"))
    case = make_case(seed, number)
    faults = logic.play(case)
    return [str(logic.shrunk(case, faults[0], name)), *faults] if faults else []


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m tests.attack", description=__doc__.split("\n")[0])
    parser.add_argument("--states", type=int, default=20_000, help="states of the logic attack")
    parser.add_argument("--runs", type=int, default=0, help="runs stepped by hand")
    parser.add_argument("--walks", type=int, default=0, help="studies driven at random")
    parser.add_argument("--noise-runs", type=int, default=0, help="runs of each noisy setting")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", metavar="SEED:NUMBER", help="play one case of the logic attack")
    options = parser.parse_args(arguments)
    faults: list[str] = []
    # What compiled kernels do silently, plain ones would warn of.
    with np.errstate(all="ignore"):
        if options.case:
            faults = show_case(options.case)
        else:
            for attack, size in (
                (attack_logic, options.states),
                (attack_hands, options.runs),
                (attack_walks, options.walks),
                (attack_noise, options.noise_runs),
            ):
                faults += attack(options.seed, size) if size else []
    print(f"\n{len(faults)} counterexamples")
    print("\n".join(faults[:MOST_SHOWN]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
