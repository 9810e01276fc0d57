"""Everything a report says, as data."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from standout import __version__
from standout.core.kinds import Verdict
from standout.core.typing import Floats, Ints
from standout.report.bookkeeping import bookkeeping_findings
from standout.report.checks import sums_by
from standout.report.citation import citations
from standout.report.findings import WARNING, Finding, statistical_findings
from standout.report.phrases import iso
from standout.report.uniform import Uniform, uniform_pulls
from standout.results import Forecast, Interval, StudyView, Trace
from standout.study import Study
from standout.study.columns import Columns, read_columns
from standout.study.view import view

WORDS = {Verdict.OUTLIER: "outlier", Verdict.NORMAL: "normal", Verdict.UNDECIDED: "undecided"}


@dataclass(frozen=True, eq=False)
class Facts:
    """A study at one moment, with what was found in its log."""

    seen: StudyView
    trace: Trace
    log: Columns
    deviations: Floats
    """Standard deviation of each arm's rewards, NaN with fewer than two."""
    guess: tuple[str, ...]
    """The outliers if one had to name them now, without guarantee."""
    left: Forecast | None
    """Pulls that are left until every arm is decided, if the study goes on and that shows."""
    uniform: Uniform | None
    findings: tuple[Finding, ...]
    interval: str
    """Name of the interval in use."""
    subset: int
    """Arms that make the threshold."""
    made: float
    seed: int

    @property
    def warnings(self) -> list[Finding]:
        """The checks that cast doubt on the answer."""
        return [finding for finding in self.findings if finding.level == WARNING]

    def positions(self, verdict: Verdict) -> Ints:
        """The arms with this verdict, from the largest estimate down."""
        found = np.flatnonzero(self.seen.verdict == verdict)
        return found[np.argsort(-_last(self.seen.estimate[found]), kind="stable")]

    def side_of(self, position: int) -> str:
        """On which side an outlier stands out."""
        sides = self.seen.problem.sides()
        if len(sides) == 1:
            return str(sides[0])
        return "high" if self.seen.estimate[position] > self.seen.median else "low"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not known yet stays NaN or infinite."""
        from standout.report.study_words import answer

        seen = self.seen
        return {
            "study": seen.name,
            "answer": answer(self),
            "created": iso(seen.created),
            "stopped_at": iso(seen.stopped_at),
            "stopped": seen.stopped,
            "reason": seen.reason,
            "note": seen.note,
            "problem": seen.problem.to_dict(),
            "method": seen.method,
            "interval": self.interval,
            "budget": seen.budget,
            "counts": vars(seen.counts),
            "threshold": _ends(seen.threshold),
            "threshold_low": _ends(seen.threshold_low),
            "median": seen.median,
            "best_guess": list(self.guess),
            "arms": [self._arm(i) for i in range(len(seen.names))],
            "trace": {name: getattr(self.trace, name).tolist() for name in vars(self.trace)},
            "pulls_left": None if self.left is None else asdict(self.left),
            "uniform": None if self.uniform is None else self.uniform.to_dict(),
            "checks": [finding.to_dict() for finding in self.findings],
            "warnings": len(self.warnings),
            "cite": citations(),
            "standout": __version__,
            "made": iso(self.made),
            "seed": self.seed,
        }

    def _arm(self, i: int) -> dict[str, Any]:
        seen = self.seen
        verdict = Verdict(int(seen.verdict[i]))
        return {
            "arm": seen.names[i],
            "verdict": WORDS[verdict],
            "side": self.side_of(i) if verdict is Verdict.OUTLIER else None,
            "estimate": float(seen.estimate[i]),
            "lower": float(seen.lower[i]),
            "upper": float(seen.upper[i]),
            "pulls": int(seen.pulls[i]),
            "deviation": float(self.deviations[i]),
        }


def gather(study: Study, *, seed: int = 0) -> Facts:
    """Look at everything; takes seconds for a log of a million rewards."""
    seen = view(study)
    log = read_columns(study, seen.counts.pulls + seen.counts.surplus)
    deviations = arm_deviations(log, len(seen.names))
    findings = [
        *statistical_findings(log, seen.names, seen.problem.noise),
        *bookkeeping_findings(seen, log, study.verify()),
    ]
    uniform = uniform_pulls(
        seen.problem, study.method, log.arm, log.reward,
        len(seen.names), seen.counts.undecided, seed,
    )  # fmt: skip
    return Facts(
        seen=seen,
        trace=study.trace(),
        log=log,
        deviations=deviations,
        guess=study.identification().best_guess,
        left=None if seen.stopped else study.forecast_range(seed),
        uniform=uniform,
        findings=tuple(findings),
        interval=study.method.interval_for(seen.problem).name.lower(),
        subset=study.method.subset_size(len(seen.names)),
        made=time.time(),
        seed=seed,
    )


def arm_deviations(log: Columns, n_arms: int) -> Floats:
    """Standard deviation of each arm's rewards; NaN where there are fewer than two."""
    number = np.bincount(log.arm, minlength=n_arms)
    mean = sums_by(log.arm, log.reward, n_arms) / np.maximum(number, 1)
    squares = sums_by(log.arm, (log.reward - mean[log.arm]) ** 2, n_arms)
    found: Floats = np.where(number > 1, np.sqrt(squares / np.maximum(number - 1, 1)), np.nan)
    return found


def _ends(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else {"lower": interval.lower, "upper": interval.upper}


def _last(values: Floats) -> Floats:
    """Arms without an estimate come last, whatever the order."""
    return np.where(np.isnan(values), -np.inf, values)
