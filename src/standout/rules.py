"""What it takes to write a rule of one's own (docs/rules.md).

A rule says which arms to pull next; a `Method` is a rule with its intervals and its
threshold. Whatever the rule, the verdicts keep their guarantee: it rests on the
intervals alone.
"""

from standout.core.compile import part
from standout.core.kinds import IntervalKind, RangeKind
from standout.core.method import Method
from standout.core.rules.base import Rule, rule
from standout.core.state import Spec, State

__all__ = ["IntervalKind", "Method", "RangeKind", "Rule", "Spec", "State", "part", "rule"]
