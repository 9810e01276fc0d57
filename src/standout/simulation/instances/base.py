"""The instance of a simulation, and the families that provide one for each run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike

from standout.core import robust
from standout.core.noise import Bernoulli, Bounded, Noise
from standout.core.problem import MIN_ARMS, Problem
from standout.core.typing import Flags, Floats
from standout.errors import InstanceError


@dataclass(frozen=True)
class NumberedArms(Sequence[str]):
    """The names `arm-1` ... `arm-n` with leading zeros, made on demand.

    A million strings would need more memory than the million means that they name.

    >>> list(NumberedArms(10))[:2], NumberedArms(10)[-1]
    (['arm-01', 'arm-02'], 'arm-10')
    """

    n_arms: int

    def __len__(self) -> int:
        return self.n_arms

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        number = range(1, self.n_arms + 1)[index]
        if isinstance(number, range):
            return tuple(self._name(i) for i in number)
        return self._name(number)

    def _name(self, number: int) -> str:
        return f"arm-{number:0{len(str(self.n_arms))}d}"


@dataclass(frozen=True, eq=False)
class Instance:
    """The true means of named arms and the noise around them. No method ever sees it.

    Args:
        name: The instance's name.
        arms: At least three distinct names.
        means: The true mean of each arm, in the rewards' unit; read-only afterwards.
        noise: The noise that methods assume.
        sigmas: The standard deviation of each arm's own rewards, none above `noise.sigma`; by
            default that of the noise.

    Raises:
        InstanceError: A mean or a sigma is not possible, or a name is missing or repeated.

    Example:
        >>> from standout.core.noise import Gaussian
        >>> Instance("trees", ["ash", "elm", "fir"], [0.1, 0.2, 0.9], Gaussian(0.1)).n_arms
        3
    """

    name: str
    arms: Sequence[str]
    means: Floats
    noise: Noise
    sigmas: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", _read_only(self.means))
        self._check_means()
        if self.sigmas is not None:
            object.__setattr__(self, "sigmas", _read_only(self.sigmas))
            self._check_sigmas(self.sigmas)

    @property
    def n_arms(self) -> int:
        """The number of arms; the paper's n."""
        return self.means.size

    def threshold(self, problem: Problem) -> float:
        """The threshold theta of the true means; the high one if both sides are asked.

        Args:
            problem: What stands out.

        Returns:
            The threshold, in the rewards' unit.
        """
        side = problem.sides()[0]
        return robust.threshold(self.means, problem.factor_of(side), side)

    def truth(self, problem: Problem) -> Flags:
        """The right answer to `problem`: the paper's set S as a mask.

        Args:
            problem: What stands out.

        Returns:
            A boolean per arm.
        """
        masks = [
            robust.outliers(self.means, problem.factor_of(side), side) for side in problem.sides()
        ]
        union: Flags = np.logical_or.reduce(masks)
        return union

    def min_gap(self, problem: Problem) -> float:
        """The distance of the nearest mean to a threshold: the paper's Delta^theta_*.

        Args:
            problem: What stands out.

        Returns:
            The distance, in the rewards' unit.
        """
        return min(
            robust.min_gap(self.means, problem.factor_of(side), side) for side in problem.sides()
        )

    def free_arms(self, problem: Problem) -> Flags:
        """Arms so near a threshold that the problem's tolerance accepts either verdict.

        Args:
            problem: What stands out.

        Returns:
            A boolean per arm.
        """
        free = np.zeros(self.n_arms, dtype=np.bool_)
        if problem.tolerance > 0:
            for side in problem.sides():
                theta = robust.threshold(self.means, problem.factor_of(side), side)
                free |= np.abs(self.means - theta) <= problem.tolerance
        return free

    def _check_means(self) -> None:
        if self.means.ndim != 1 or self.means.size < MIN_ARMS:
            raise InstanceError(
                f"{self.name}: at least {MIN_ARMS} arms are needed, not {self.means.size}"
            )
        if len(self.arms) != self.means.size:
            raise InstanceError(f"{self.name}: {len(self.arms)} names for {self.means.size} means")
        if not isinstance(self.arms, NumberedArms) and len(set(self.arms)) < len(self.arms):
            raise InstanceError(f"{self.name}: two arms have the same name")
        self._refuse(~np.isfinite(self.means), "has a mean that is not a finite number")
        low, high = self.noise.support
        self._refuse(
            (self.means < low) | (self.means > high),
            f"has a mean outside [{low:g}, {high:g}], impossible with {self.noise.name} noise",
        )

    def _check_sigmas(self, sigmas: Floats) -> None:
        if isinstance(self.noise, Bernoulli):
            raise InstanceError(
                f"{self.name}: rewards of 0 and 1 take no sigma; leave the column out or use "
                "gaussian:SIGMA, bounded:A,B or heavy:SIGMA"
            )
        if sigmas.shape != self.means.shape:
            raise InstanceError(f"{self.name}: {sigmas.size} sigmas for {self.means.size} means")
        self._refuse(~(np.isfinite(sigmas) & (sigmas > 0)), "needs a sigma above 0")
        if isinstance(self.noise, Bounded):
            low, high = self.noise.support
            self._refuse(
                sigmas**2 >= (self.means - low) * (high - self.means),
                f"has a sigma that no rewards within [{low:g}, {high:g}] can have at that mean",
            )
        else:
            self._refuse(
                sigmas > self.noise.sigma,
                f"has a sigma above the {self.noise.sigma:g} of {self.noise.spec()}",
            )

    def _refuse(self, wrong: Flags, complaint: str) -> None:
        if wrong.any():
            first = int(np.argmax(wrong))
            value = f"mean {self.means[first]:g}"
            raise InstanceError(f"{self.name}: arm {self.arms[first]!r} ({value}) {complaint}")


@dataclass(frozen=True, eq=False)
class InstanceFamily(ABC):
    """Provides the instance of each run: always the same one, or a new random one.

    `name` identifies it in commands, `noise` is that of every instance. `default_k` and
    `default_delta` are used where the problem does not set them.
    """

    name: str
    noise: Noise
    default_k: float = 3.0
    default_delta: float = 0.05
    is_random: ClassVar[bool] = True
    """Whether two runs may have different means."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Instance:
        """The instance of one run; a fixed family does not use `rng`."""


class FixedFamily(InstanceFamily):
    """The same instance in every run."""

    instance: Instance
    is_random: ClassVar[bool] = False

    def __init__(
        self, instance: Instance, default_k: float = 3.0, default_delta: float = 0.05
    ) -> None:
        super().__init__(instance.name, instance.noise, default_k, default_delta)
        vars(self)["instance"] = instance

    def draw(self, rng: np.random.Generator) -> Instance:
        """The instance itself."""
        return self.instance


def make_instance(name: str, means: ArrayLike, noise: Noise) -> Instance:
    """An instance with numbered arms."""
    values = np.asarray(means, dtype=np.float64)
    return Instance(name, NumberedArms(values.size), values, noise)


def _read_only(values: Floats) -> Floats:
    # A copy, so that the caller's array stays writable and independent.
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array
