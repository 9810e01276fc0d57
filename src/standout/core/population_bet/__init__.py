"""Population bets: one bet per arm, planned from a pilot, on how the means of all arms lie.

For hundreds to thousands of arms with few rewards each. It is a statement about a fixed sample:
how often each arm is measured must not depend on the rewards.

*The bet.* Each arm's rewards are split at random into a pilot and the rest, with a reading y_a of
the rest (the number of ones, or the mean). All that follows is planned from the pilots: an
estimate P of how the means are distributed (`estimate`), a partition of all pairs (median, MAD)
into cells (`plan`), and for each cell the population P' with a median and a MAD from the cell
that is hardest to tell from P (`rivals`, `solver`). The cell's bet is

    r = f_P / f_P',  clipped,     E(x) = product over arms of r(y_a) / g(x_a),  g(x) >= E_x[r(y)],

where f_P are the masses of bins of readings if means are drawn from P, and E_x the average over
readings of an arm with mean x (`bets`).

*Soundness.* Let x be the true means. Given the pilots, all r and g are fixed, and the readings
are independent of each other and of the pilots, since the numbers of rewards are fixed. So the
average of E(x) is the product over arms of E_x[r(y_a)] / g(x_a), at most 1, for each bet. The
means x have one median and one MAD and so belong to one cell, which does not depend on the rest.
They are refuted if that cell's E(x) is at least 1/delta, which by Markov's inequality happens
with probability at most delta. That there are many cells costs nothing: the bets of other cells
never judge x. Nothing is assumed of P, P' or the cells: a poor pilot makes the interval wide and
never wrong.

What is reported are the least and the largest threshold of all means that are not refuted. Each
cell is cut into small boxes, and a box is left out only if a lower bound of log E(x) over all its
means reaches log 1/delta (`bound`): g is bounded from above on intervals of means (`bets`),
regions of a box are rounded outward to such intervals, and the counts that make a median and a
MAD are relaxed by Lagrange's multipliers. -log g is not unimodal, so regions are looked through
for their least value, and not only their ends.

*Why it is sharp.* P' is the projection of P on a convex set, so that the average of r over any
population of the set is at most 1, and then sum of log g(x_a) <= n log(mean of g) <= 0 by Jensen:
means of the cell pay nothing for being many. On average log E grows by n KL(f_P || f_P'), which
is the most that any test of the cell's means can have. `possible` uses the same divergence to say
how narrow an interval can be at all.

*Noise.* Readings of 0/1 rewards are binomial. Normal rewards must be normal, with exactly the
scale that is given: bets on other noise with at most that scale are not valid. Where the scale is
not known, the sum of squares around pilot and rest is independent of both means, and bounds each
arm's scale with probability 1 - delta/10 for all arms together; g is then the largest over these
scales.

- `sample`: sums of rewards, split in two.  `law`: how readings depend on a mean.
- `estimate`, `rivals`, `solver`, `plan`: what the pilot says, and the bets made of it.
- `bets`, `bound`, `interval`: what the rest says.  `possible`: what could be said at most.
"""

from standout.core.population_bet.interval import population_interval as population_interval
from standout.core.population_bet.possible import possible_interval as possible_interval
from standout.core.population_bet.possible import possible_of_means as possible_of_means
from standout.core.population_bet.sample import Sums as Sums
