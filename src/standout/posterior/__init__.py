"""The chance of each arm to stand out, by empirical Bayes: an estimate, never a certificate."""

from standout.posterior.chances import chances
from standout.posterior.estimate import Memory, estimate
from standout.posterior.evidence import Evidence, evidence_of
from standout.posterior.until import Until, is_look_due

__all__ = ["Evidence", "Memory", "Until", "chances", "estimate", "evidence_of", "is_look_due"]
