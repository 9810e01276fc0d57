"""Rewards of bad will: the running mean goes astray as far as an honest interval allows."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

FAMILIES = ("gaussian:0.05", "gaussian", "heavy:0.05", "bounded:-8,8", "bernoulli")


class Tape:
    """The s-th reward of an arm, made so that s rewards sum to s * mean + c * sqrt(s) * scale.

    An interval that holds at all times with probability 1 - delta/n has a radius
    of at least some 3 scale / sqrt(s), so that with |c| <= 2.5 most hold the mean.
    """

    def __init__(self, rng: random.Random, means: Sequence[float], noise: str) -> None:
        self.means = list(means)
        self.noise = noise
        self.scale = 0.2 if noise.startswith("bounded") else 0.05
        self.bias = [rng.choice([-2.5, -1.0, 0.0, 1.0, 2.5]) for _ in means]
        self.wobble = [rng.choice([0.25, 1.0]) for _ in means]
        self.counts = [0] * len(self.means)
        self.sums = [0.0] * len(self.means)

    def next(self, arm: int) -> float:
        self.counts[arm] += 1
        s, mean = self.counts[arm], self.means[arm]
        if self.noise == "bernoulli":
            spread = math.sqrt(mean * (1 - mean) * s)
            reward = float(s * mean + self.bias[arm] * spread > self.sums[arm] + 0.5)
        else:
            steps = math.sqrt(s) - math.sqrt(s - 1)
            turn = self.wobble[arm] if s % 2 else -self.wobble[arm]
            reward = mean + self.scale * (self.bias[arm] * steps + turn)
            if self.noise.startswith("bounded"):
                reward = min(max(reward, -8.0), 8.0)
        self.sums[arm] += reward
        return reward


def draw_means(rng: random.Random, n: int, noise: str) -> list[float]:
    """Means with ties now and then, and a few far off."""
    if noise == "bernoulli":
        means = [rng.choice([0.3, 0.35, 0.4, rng.uniform(0.25, 0.45)]) for _ in range(n)]
        far = (0.02, 0.9, 0.97)
    else:
        means = [rng.choice([-1.0, 0.0, 1.0, rng.uniform(-1, 1)]) for _ in range(n)]
        far = (-7.0, 5.0, 7.0)
    for i in rng.sample(range(n), rng.randint(0, max(1, n // 4))):
        means[i] = rng.choice(far)
    return means
