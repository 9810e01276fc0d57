"""The names for writing your own rule (docs/rules.md).

A rule says which arms to pull next; a `Method` is a rule with its intervals and its threshold.
The guarantee holds for every rule, because it depends on the intervals alone.
"""

from standout.core.compile import part
from standout.core.kinds import IntervalKind, RangeKind
from standout.core.method import Method
from standout.core.rules.base import Rule, rule
from standout.core.state import Spec, State

__all__ = ["IntervalKind", "Method", "RangeKind", "Rule", "Spec", "State", "part", "rule"]
