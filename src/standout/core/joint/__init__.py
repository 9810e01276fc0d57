"""The joint certificate: one bet against the means of all arms together.

Each interval in `standout.core.intervals` is {x : M_a(x) < n/delta} for a test supermartingale M_a
of one arm. The joint certificate replaces these n bets at delta/n each with a single bet,

    J(x) = sum over arms of log(1 - q + q M_a(x_a)),      keep x while J(x) < log(1/delta).

Validity: a pull changes one factor, whose expectation does not grow. So exp J at the true means is
a supermartingale, however the arms are chosen. By Ville's inequality it exceeds 1/delta at some
time with probability at most delta.

Strength: a median moves only if many arms err at once. A box of intervals allows all arms to err at
once; the joint region does not.

An arm is certified when no x of the region puts it on the other side of its threshold.

- `costs`: an arm's factor at a point, and its minimum on either side of a point.
- `bounds`: a lower bound of J over all x that put an arm on the other side and have a median and a
  MAD from a box.
- `pricing`: costs by the bet in use, which may be a stage of `standout.core.crossing`.
- `region`: the threshold's interval in the joint region, for many arms.
- `certificate`: the branch and bound over such boxes, which is a proof, and the cheapest
  alternative that was not refuted, which the rule `joint` uses.
"""
