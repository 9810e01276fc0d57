"""Population bets: one bet per arm, planned from a pilot, on the distribution of all means.

They serve hundreds to thousands of arms with few rewards each. They are valid for a fixed sample:
how often each arm is measured must not depend on the rewards.

*The bet.* Each arm's rewards are split at random into a pilot and the rest. The reading y_a of arm
a is the number of ones in the rest, or its mean. The pilots alone determine the following:

- an estimate P of the distribution of the means (`estimate`);
- a partition of all pairs (median, MAD) into cells (`plan`);
- for each cell, among the populations with a median and a MAD from the cell, the population P'
  that is hardest to distinguish from P (`rivals`, `solver`).

The cell's bet is

    r = f_P / f_P',  clipped,     E(x) = product over arms of r(y_a) / g(x_a),  g(x) >= E_x[r(y)],

where f_P are the masses of the bins of readings if the means are drawn from P, and E_x is the
expectation over the readings of an arm with mean x (`bets`).

*Soundness.* Let x be the true means. Given the pilots, all r and g are fixed. The readings are
independent of each other and of the pilots, since the numbers of rewards are fixed. So for each
bet the expectation of E(x) is the product over arms of E_x[r(y_a)] / g(x_a), which is at most 1.
The means x have one median and one MAD, so they belong to one cell, which does not depend on the
rest. They are refuted if that cell's E(x) is at least 1/delta, which by Markov's inequality happens
with probability at most delta. The number of cells costs nothing, because the bets of other cells
never judge x. Nothing is assumed about P, P' or the cells: a poor pilot makes the interval wide,
never wrong.

The interval goes from the least to the largest threshold of all means that are not refuted. Each
cell is cut into small boxes. A box is excluded only if a lower bound of log E(x) over all its means
reaches log 1/delta (`bound`). For this bound,

- g is bounded from above on intervals of means (`bets`);
- the regions of a box are rounded outward to such intervals;
- the counts that define a median and a MAD are relaxed with Lagrange multipliers.

-log g is not unimodal, so the minimum over a region is taken over all its intervals, not only at
its ends.

*Sharpness.* P' is the projection of P onto a convex set, so the expectation of r over any
population of the set is at most 1. By Jensen's inequality, sum of log g(x_a) <= n log(mean of g)
<= 0: the means of the cell pay nothing for their number. The expected log E is n KL(f_P || f_P'),
the largest that any test of the cell's means can have. `possible` uses the same divergence to
compute how narrow any interval can be.

*Noise.* Readings of 0/1 rewards are binomial. Gaussian rewards must have exactly the given scale:
the bets are not valid for other noise of at most that scale. If the scale is unknown, the sum of
squares around the means of pilot and rest is independent of both means. It gives bounds on the
scales, which hold for all arms together with probability 1 - delta/10. Then g is the largest value
over these scales.

- `sample`: sums of rewards, split into pilot and rest.  `law`: how readings depend on a mean.
- `estimate`, `rivals`, `solver`, `plan`: the estimate from the pilot, and the bets based on it.
- `bets`, `bound`, `interval`: the evidence of the rest.  `possible`: the narrowest interval of any
  method.
"""

from standout.core.population_bet.interval import population_interval as population_interval
from standout.core.population_bet.possible import possible_interval as possible_interval
from standout.core.population_bet.possible import possible_of_means as possible_of_means
from standout.core.population_bet.sample import Sums as Sums
