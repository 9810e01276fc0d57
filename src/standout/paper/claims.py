"""Claims of the paper with our measure and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """Whether the measurements support the claim."""

    HOLDS = "holds"
    PARTLY = "partly"
    FAILS = "fails"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, the measurement, the verdict and its reason."""

    id: str
    figure: str
    claim: str
    measured: str
    verdict: Verdict
    reason: str

    def to_dict(self) -> dict[str, str]:
        """Plain values for claims.json, with the reason at the end of `measure`."""
        said = {"measured": f"{self.measured}. {self.reason}", "verdict": str(self.verdict)}
        return {"id": self.id, "figure": self.figure, "claim": self.claim, **said}


def judge(fully: bool, partly: bool) -> Verdict:
    """Holds, holds partly, or fails."""
    if fully:
        return Verdict.HOLDS
    return Verdict.PARTLY if partly else Verdict.FAILS
