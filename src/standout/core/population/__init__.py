"""The distribution of all arms' means: an empirical-Bayes model for chances.

The means are draws from a population that is a mixture of groups (a Dirichlet process). A group
is a bell (a normal distribution; for 0/1 rewards a beta distribution), a slope (an exponential
distribution on one side of an edge) or an atom, whose arms all have the same mean. So the model
covers smooth, skewed and heavy-tailed populations, ties, zeros beside positive means, lattices, and
two or three groups; the data decide between them.
Gibbs sampling draws from the posterior of the whole model: groups, which arm belongs to which
(Neal 2000, algorithm 8, with the auxiliary groups of Favaro and Teh 2013), and all means. Each
draw of the means has its own median + k * MAD. Nothing is plugged in, so with few arms or few
rewards the answer is as uncertain as it should be.

Modules: `population` (the data and the work space), `fit` (how well an arm fits a group),
`groups` (one step of the sampler), `means` (draws of means, thresholds, tails), `chain`.
"""
