"""Chances of a run, or of a stored answer."""

from __future__ import annotations

import numpy as np

from standout.core.noise import Bounded, GaussianUnknown
from standout.core.problem import Problem, ProblemLike, as_problem
from standout.core.run import Run
from standout.errors import ProblemError
from standout.estimation.estimate import estimate
from standout.estimation.evidence import Evidence, evidence_of
from standout.estimation.lists import FALSE_SHARE
from standout.results import Chances, Identification


def chances(
    found: Run | Identification,
    problem: ProblemLike | None = None,
    *,
    false_share: float = FALSE_SHARE,
    seed: int = 0,
) -> Chances:
    """For each arm of a run the chance that it stands out: an estimate, not a certificate.

    Args:
        found: A `Run`, or the `Identification` of one.
        problem: The problem, for an `Identification` without one.
        false_share: The largest share of `flagged` that may be wrong, in expectation; 0.05 by
            default.
        seed: The seed of the random draws; the same input gives the same output.

    Returns:
        The chances.

    Raises:
        ProblemError: `false_share` is not between 0 and 1; or the noise of an `Identification`
            needs more than means and pulls (bounded, or Gaussian without a sigma): pass the `Run`.

    Example:
        >>> rng = np.random.default_rng(1)
        >>> means = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.2, "yew": 0.95}
        >>> run = Run(Problem(noise="gaussian:0.2", k=2), list(means), "focus", rng, budget=60)
        >>> while (arm := run.ask()) is not None:
        ...     run.tell(arm, rng.normal(means[arm], 0.2))
        >>> run.identification().outliers, chances(run).probable
        ((), ('yew',))
    """
    if isinstance(found, Run):
        evidence = evidence_of(found.spec, found.state)
        return estimate(found.problem, evidence, found.arms, false_share=false_share, seed=seed)
    if problem is None:
        problem = found.problem
    if problem is None:
        raise ProblemError("an Identification does not say what was asked: give its Problem, too")
    problem = as_problem(problem)
    return estimate(
        problem, _answer_evidence(found, problem), found.arms, false_share=false_share, seed=seed
    )


def _answer_evidence(found: Identification, problem: Problem) -> Evidence:
    if isinstance(problem.noise, Bounded | GaussianUnknown):
        raise ProblemError(
            f"with {problem.noise.spec()} noise, chances need how much the rewards scatter, "
            "which an Identification does not keep: give the Run itself"
        )
    if len(found.means) != len(found.arms) or not found.arms:
        raise ProblemError("this Identification does not have the means of its arms")
    pulls = found.pulls_by_arm
    if len(found.earlier_by_arm):
        pulls = pulls + found.earlier_by_arm
    known = (pulls == 0) & np.isfinite(found.means)
    squares = np.full(len(found.arms), np.nan)
    return Evidence(pulls, found.means, squares, known)
