"""The benefit of a budget: wrong arms after a number of pulls, and pulls until few are expected.

Run it as: python benchmarks/budgets.py [--runs 200] [--seed 1] [--only fig4]. All methods play the
same runs. At each budget the same estimate (`standout.chances`) computes the expected number of
wrong arms from a method's rewards; the truth gives the actual number. With --until errors=0.1 the
runs continue until the estimate promises it, with `focus:goal=anytime` and with uniform sampling.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from populations import CONTEST, contest, play_to, truth

from standout.core.methods import as_method
from standout.core.noise import Gaussian
from standout.core.problem import Problem
from standout.core.run import start_state
from standout.core.state import PULLS, UNDECIDED, Spec, State
from standout.estimation.estimate import estimate
from standout.estimation.evidence import evidence_of
from standout.estimation.until import GROWTH, GROWTH_MANY, MANY, Until
from standout.results import Chances
from standout.simulation import Instance, parse_instance
from standout.simulation.instances import make_instance
from standout.simulation.runs import streams

OURS, UNIFORM = "focus:goal=anytime", "random:interval=auto"
METHODS = (OURS, "focus", "roai-lucb", UNIFORM)
PER_ARM = (5, 10, 30, 100)
MOST_PER_ARM = 3_000
"""Pulls per arm after which a run with --until is given up."""


def screen(rng: np.random.Generator) -> Instance:
    """2,000 arms like a bell and three far above it; the noise is twice as wide as the bell."""
    means = rng.normal(0.0, 0.5, 2000)
    means[:3] = (3.0, 3.5, 4.0)
    return make_instance("screen", means, Gaussian(1.0))


@dataclass(frozen=True)
class Place:
    """An instance with the question of its experiment."""

    name: str
    k: float

    def draw(self, rng: np.random.Generator) -> Instance:
        """One run's means."""
        if self.name == "screen":
            return screen(rng)
        return contest() if self.name == "contest" else parse_instance(self.name).draw(rng)


def places() -> Iterator[Place]:
    """Fig. 4 and the wines of the paper, the contest if its data are present, and a screen."""
    for name in ("fig4", "wine"):
        yield Place(name, parse_instance(name).default_k)
    if CONTEST.exists():
        yield Place("contest", 3.0)
    yield Place("screen", 3.0)


@dataclass(frozen=True)
class Player:
    """A run of a method that can be continued and examined."""

    instance: Instance
    problem: Problem
    spec: Spec
    state: State
    rng: np.random.Generator

    @classmethod
    def of(cls, place: Place, name: str, seed: int, run: int) -> Player:
        """The run of this number, with the same means for all methods."""
        instance_rng, rng, _ = streams(seed, run)
        instance = place.draw(instance_rng)
        problem, method = Problem(noise=instance.noise, k=place.k), as_method(name)
        state = start_state(problem, method, instance.n_arms, rng)
        return cls(instance, problem, method.spec(problem, instance.n_arms), state, rng)

    def look(self, pulls: int) -> Chances:
        """The chances after this many pulls."""
        play_to(self.instance, self.spec, self.state, pulls, self.rng)
        names = [str(i) for i in range(self.instance.n_arms)]
        return estimate(self.problem, evidence_of(self.spec, self.state), names)

    def wrong(self, found: Chances) -> int:
        """Arms on the wrong side of the best guess."""
        return int(((found.chance > 0.5) != truth(self.instance, self.problem)).sum())


def budgets(place: Place, runs: int, seed: int, methods: tuple[str, ...]) -> None:
    """Print wrong arms, expected and actual, and certain arms at each budget."""
    print(f"\n| {place.name}: pulls per arm | " + " | ".join(map(str, PER_ARM)) + " |")
    print("|---" * (1 + len(PER_ARM)) + "|", flush=True)
    for name in methods:
        cells = np.zeros((len(PER_ARM), 4, runs))
        for run in range(runs):
            player = Player.of(place, name, seed, run)
            n = player.instance.n_arms
            for look, per_arm in enumerate(PER_ARM):
                found = player.look(per_arm * n)
                wrong = player.wrong(found)
                certain = n - int(player.state.counters[UNDECIDED])
                cells[look, :, run] = found.expected_wrong, wrong, wrong > 0, certain
        shown = []
        for look in cells:
            error = look[1].std() / np.sqrt(runs)
            shown.append(
                f"{look[0].mean():.2f} expected, {look[1].mean():.2f} ± {error:.2f} wrong, "
                f"{look[3].mean():.0f} certain"
            )
        print(f"| {name} | " + " | ".join(shown) + " |", flush=True)


def promised(place: Place, runs: int, seed: int, until: Until) -> None:
    """Print the pulls until the chances promise what is asked."""
    for name in (OURS, UNIFORM):
        taken, wrong, given_up = [], [], 0
        for run in range(runs):
            player = Player.of(place, name, seed, run)
            n = player.instance.n_arms
            pulls = n
            while True:
                found = player.look(pulls)
                if until.is_met(found) or not player.state.counters[UNDECIDED]:
                    break
                if pulls >= MOST_PER_ARM * n:
                    given_up += 1
                    break
                pulls = int(np.ceil(pulls * (GROWTH if n <= MANY else GROWTH_MANY)))
            taken.append(int(player.state.counters[PULLS]))
            wrong.append(player.wrong(found))
        print(
            f"{place.name}, {name} until {until}: {np.mean(taken):,.0f} pulls on average, "
            f"median {np.median(taken):,.0f}; {np.mean(wrong):.2f} wrong arms, "
            f"{given_up} of {runs} runs given up",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", help="fig4, wine, contest or screen")
    parser.add_argument("--method", action="append", help="instead of all four")
    parser.add_argument("--until", type=Until.parse, help="errors=0.1: pulls until then")
    options = parser.parse_args()
    for place in places():
        if options.only and place.name not in options.only:
            continue
        if options.until is not None:
            promised(place, options.runs, options.seed, options.until)
        else:
            methods = tuple(options.method or METHODS)
            budgets(place, options.runs, options.seed, methods)


if __name__ == "__main__":
    main()
