"""A joint certificate: one bet against the means of all arms together.

Every interval of ours is {x : M_a(x) < n/delta} for a test supermartingale M_a of one arm.
Instead of n bets at delta/n each, take a single one,

    J(x) = sum over arms of log(1 - q + q M_a(x_a)),      keep x while J(x) < log(1/delta).

A pull changes one factor, whose mean does not grow, so that exp J at the true means is a
supermartingale however arms are chosen, and exceeds 1/delta at some time with probability
at most delta (Ville). Boxes of intervals let all arms err at once, which is what moves a
median; the joint region does not.

An arm is certified when no x of the region puts it on the other side of its threshold.

- `costs`: what an arm's factor is at a point, and its least value on either side of one.
- `bounds`: a lower bound of J over all x with a median and a MAD from a box, that put an arm on
  the other side.
- `pricing`: costs by the bet in use, which may be a stage of `standout.core.crossing`.
- `region`: what it leaves of the threshold, for more arms than can be looked at one by one.
- `certificate`: the search over such boxes, which is a proof, and the cheapest
  alternative that it could not refute, which the rule `joint` works from.
"""
