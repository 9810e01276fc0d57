"""The crossing bet: evidence against means that put an arm into a cell without its estimate.

For means x with median M and MAD d, the points M - d, M, M + d and the edge M + F d divide the line
into cells (`cells`). Let l_a <= x_a <= u_a be the ends of the cell that contains x_a. There is no
bet on an arm whose estimate lies in its cell, and the arm costs nothing. While the estimate y lies
above u_a, the bet on the next batch of rewards is a likelihood ratio of a mean between u_a and y
against u_a. While y lies below l_a, it is one against l_a (`gains`). With D_a(u) and U_a(l) for the
sums of the logarithms of these ratios,

    J(x) = sum over arms of log(1 - h + h exp(D_a(u_a) + U_a(l_a))),

and x is rejected when J(x) >= log(1 / delta).

Validity. Fix the true means x; then the ends of all cells are constants. The arm's rewards so far
determine, before each batch of arm a, whether the bet is on D_a(u_a) or on U_a(l_a), and its
strength. It is never on both, since l_a <= u_a. If the estimate lies above u_a, the ratio against
u_a grows with the rewards and has expectation 1 at a mean of u_a. Since x_a <= u_a, its expectation
is at most 1. The same holds below l_a. So each exp(D_a + U_a) is a supermartingale that starts at
1, and so is its average with 1. A reward changes the factor of one arm. Given all rewards of all
arms so far, the expectation of this factor does not grow. So the product exp J(x) is a
supermartingale, however the arms are chosen. By Ville's inequality it exceeds 1 / delta at some
time with probability at most delta. The argument needs all rewards, of all arms together, to be
counted in the order of the pulls: a strength is fixed before its batch.

The bets are against points of a grid: the next point above u_a and the next point below l_a. The
mean lies below the one and above the other, too (`grid`). An arm's grid is fixed when a bet begins.

Stages. A bet that begins at a stopping time has the value 1 there. So three bets begin one after
the other, each with a share of delta that was fixed beforehand (`stages`). Their estimates use all
rewards, also earlier ones. The two sides of a question have separate bets, each with half of the
share: for an even number of arms the two medians differ. When rewards are voided or the tolerance
changes, the stages that have begun end, and their shares are spent.

Branch and bound over boxes of (M, d) proves that an arm's flip is rejected for *all* means, as for
the joint bet on the means (`standout.core.joint`). Over a box, each end of a cell lies in a range,
and the evidence against it is at least its minimum over the range. D(u) and U(l) need not be
monotone, so minima are taken over all points of the range (`tables`). An arm exactly *on* M - d, M
or M + d has a cell of its own, with evidence from both sides. Otherwise an alternative could put
arms there for free, since ties count for the median and the MAD. Verdicts are stored per arm (and
per side if there are two). They are never stored per direction, since arms may be added.

- `record`: the arrays.  `gains`: the gain of a batch.  `grid`, `tables`: evidence at grid points.
- `cells`: the cost of an arm in each cell.  `stages`: when bets begin, and their shares of delta.
"""
