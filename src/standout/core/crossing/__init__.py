"""The crossing bet: evidence against means that put an arm into another cell than its own.

For means x with median M and MAD d the points M - d, M, M + d and the edge M + F d cut the line
into cells (`cells`). Let l_a <= x_a <= u_a be the ends of the cell that x_a is in. An arm whose
estimate lies in its cell is not bet on, and costs nothing. While its estimate y lies above u_a, its
next batch of rewards is bet on by a likelihood ratio of a mean between u_a and y against u_a; while
y lies below l_a, by one against l_a (`gains`). With D_a(u) and U_a(l) for the sums of the
logarithms of all that was won,

    J(x) = sum over arms of log(1 - h + h exp(D_a(u_a) + U_a(l_a))),

and x is rejected when J(x) >= log(1 / delta).

Why this is valid. Fix the true means x; then the ends of all cells are constants. Before a batch of
arm a it is known whether D_a(u_a) or U_a(l_a) is bet on, never both, since l_a <= u_a, and at what
strength: by the arm's rewards so far. If the estimate lies above u_a, the ratio against u_a grows
with the rewards, and has mean 1 at a mean of u_a; since x_a <= u_a its mean is at most 1. Likewise
below l_a. So each exp(D_a + U_a) is a supermartingale that starts at 1, and so is its average with
1. A reward changes the factor of one arm, whose mean given all rewards of all arms so far does not
grow: the product exp J(x) is a supermartingale, however the arms are chosen. By Ville's inequality
it exceeds 1 / delta at some time with probability at most delta. All that needs rewards to be
counted in the order of the pulls, of all arms in one line: a strength is fixed before the batch.

The bet is one against points of a grid, the next one above u_a and the next one below l_a, which
the mean lies below and above as well (`grid`). Each arm's grid is fixed when the bet begins.

Stages. A bet that begins at a stopping time starts at 1 there, so three begin one after the other,
each with a part of delta that was fixed beforehand (`stages`). Their estimates use all rewards,
also those from before. The two sides of a question have bets apart, each with half of that part:
for an even number of arms the two medians differ. When rewards are voided or the tolerance
changes, the stages that have begun are over and their parts are spent.

That an arm's flip is rejected for *all* means is proved by branch and bound over boxes of (M, d),
as for the joint bet on the means (`standout.core.joint`). Over a box the ends of cells are in
ranges, and the evidence against each is at least its minimum over the range. D(u) and U(l) need not
be monotone, so that minima are taken over all points of the range (`tables`). An arm *on* M - d, M
or M + d is a cell of its own, with evidence from both sides: otherwise an alternative could put
arms of its choice there for nothing, as ties count for the median and the MAD. Verdicts are kept
per arm, and per side where there are two; never that a way of flipping is impossible for arms to
come.

- `record`: the arrays; `gains`: what a batch adds; `grid`, `tables`: evidence at the grid's points.
- `cells`: what an arm costs in each cell; `stages`: when bets begin, and their parts of delta.
"""
