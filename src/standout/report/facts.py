"""All data of a report."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from standout import __version__
from standout.analysis.checks.findings import WARNING, Finding, statistical_findings
from standout.analysis.checks.ranks import sums_by
from standout.analysis.checks.record_keeping import bookkeeping_findings
from standout.analysis.report_data import ReportData, RewardTable, read_report_data
from standout.analysis.uniform_sampling import Uniform, uniform_pulls
from standout.core.kinds import Verdict
from standout.core.typing import Floats, Ints
from standout.pictures.arms import Picture, picture_of_view
from standout.report.items import Card, cards, read_texts
from standout.report.words import answer
from standout.results import Chances, Forecast, Interval, StudyView
from standout.results.interval import by_side
from standout.study import Study
from standout.text import iso

PAPER = (
    "Yinglun Zhu, Sumeet Katariya and Robert Nowak. Robust Outlier Arm Identification. "
    "Proceedings of the 37th International Conference on Machine Learning (ICML), PMLR 119, 2020."
)
CITATIONS = (
    PAPER,
    f"standout {__version__}: adaptive measurement that finds the few items that stand out "
    "from the many, with a guarantee.",
)
"""The references of a report: the paper, and this program with its version."""


@dataclass(frozen=True, eq=False)
class Facts(ReportData):
    """A study at one moment, with the data from its log."""

    deviations: Floats
    """Standard deviation of each arm's rewards; NaN with fewer than two rewards."""
    left: Forecast | None
    """Forecast of the pulls until every arm is decided; None if unknown or stopped."""
    uniform: Uniform | None
    findings: tuple[Finding, ...]
    texts: dict[int, str]
    """The texts that raters see, by the arm's position."""
    cards: tuple[Card, ...]
    """Arms that stand out, or may, as raters saw them."""
    made: float
    seed: int

    @property
    def interval(self) -> str:
        """The name of the interval in use."""
        return self.method.interval_for(self.seen.problem).name.lower()

    @cached_property
    def picture(self) -> Picture:
        """The picture of the arms."""
        return picture_of_view(self.seen, self.guess, self.chances)

    @property
    def warnings(self) -> list[Finding]:
        """The checks that cast doubt on the answer."""
        return [finding for finding in self.findings if finding.level == WARNING]

    def positions(self, verdict: Verdict) -> Ints:
        """The arms with this verdict, in the order of the picture."""
        order = self.picture.order
        found: Ints = order[self.seen.verdict[order] == verdict]
        return found

    def side_of(self, position: int) -> str:
        """The side on which an outlier stands out."""
        return "low" if self.picture.is_low(position) else "high"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not known yet stays NaN or infinite."""
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
            "until": seen.until,
            "counts": vars(seen.counts),
            **by_side([Interval(one.lower, one.upper).to_dict() for one in seen.thresholds]),
            "median": seen.median,
            "best_guess": list(self.guess),
            "chances": None if self.chances is None else self.chances.leaders_dict(),
            "arms": [self._arm(i) for i in range(len(seen.names))],
            "trace": {
                name: column.tolist()
                for name, column in vars(self.trace).items()
                if column is not None
            },
            "pulls_left": None if self.left is None else self.left.to_dict(),
            "uniform": None if self.uniform is None else self.uniform.to_dict(),
            "changes": [change.to_dict() for change in self.changes],
            "checks": [finding.to_dict() for finding in self.findings],
            "warnings": len(self.warnings),
            "cite": list(CITATIONS),
            "standout": __version__,
            "made": iso(self.made),
            "seed": self.seed,
        }

    def _arm(self, i: int) -> dict[str, Any]:
        seen = self.seen
        verdict = Verdict(int(seen.verdict[i]))
        return {
            "arm": seen.names[i],
            "text": self.texts.get(i),
            "verdict": verdict.name.lower(),
            "side": self.side_of(i) if verdict is Verdict.OUTLIER else None,
            "estimate": float(seen.estimate[i]),
            "lower": float(seen.lower[i]),
            "upper": float(seen.upper[i]),
            "pulls": int(seen.pulls[i]),
            "deviation": float(self.deviations[i]),
            "chance": None if self.chances is None else float(self.chances.chance[i]),
        }


def gather(
    study: Study,
    *,
    seed: int = 0,
    files: str | None = None,
    told: Callable[[str], object] = str,
) -> Facts:
    """Read a study as of one moment; takes seconds for a log of a million rewards.

    `files` is the folder with the items' pictures (`standout serve --files`). `told` is called with
    a few words before each step.
    """
    told("reading and verifying the log")
    now = read_report_data(study)
    seen, log = now.seen, now.log
    findings = [
        *statistical_findings(log, seen.names, seen.problem.noise, told),
        *bookkeeping_findings(seen, log, now.verified),
    ]
    told("comparing with uniform sampling")
    uniform = uniform_pulls(
        seen.problem, now.method, log.arm, log.reward,
        len(seen.names), seen.counts.undecided, seed,
    )  # fmt: skip
    return Facts(
        **{**vars(now), "guess": _guess(now)},
        deviations=arm_deviations(log, len(seen.names)),
        left=None if seen.stopped else now.forecaster.forecast(seed),
        uniform=uniform,
        findings=tuple(findings),
        texts=read_texts(study),
        cards=cards(study, _shown(seen, now.chances), files),
        made=time.time(),
        seed=seed,
    )


def _guess(now: ReportData) -> tuple[str, ...]:
    """The likely outliers: the certain ones, and arms that probably stand out."""
    if now.chances is None:
        return tuple(now.guess)
    likely, seen = now.chances.chance > 0.5, now.seen
    return tuple(
        name
        for name, verdict, is_likely in zip(seen.names, seen.verdict, likely, strict=True)
        if verdict == Verdict.OUTLIER or (verdict == Verdict.UNDECIDED and is_likely)
    )


def _shown(seen: StudyView, chances: Chances | None) -> list[int]:
    """The outliers; if none is certain yet, the arms that probably stand out."""
    order = picture_of_view(seen).order
    found = [int(arm) for arm in order if seen.verdict[arm] == Verdict.OUTLIER]
    if not found and chances is not None:
        found = [int(arm) for arm in order if chances.chance[arm] > 0.5]
    return found


def arm_deviations(log: RewardTable, n_arms: int) -> Floats:
    """Standard deviation of each arm's rewards; NaN with fewer than two rewards."""
    number = np.bincount(log.arm, minlength=n_arms)
    mean = sums_by(log.arm, log.reward, n_arms) / np.maximum(number, 1)
    squares = sums_by(log.arm, (log.reward - mean[log.arm]) ** 2, n_arms)
    found: Floats = np.where(number > 1, np.sqrt(squares / np.maximum(number - 1, 1)), np.nan)
    return found
