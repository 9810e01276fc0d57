"""The data checks of a study in plain words: what was tested, what was found, what to do."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from standout.analysis.checks import noise as noise_checks
from standout.analysis.checks import order as order_checks
from standout.analysis.checks import ranks as checks
from standout.analysis.checks import workers as worker_checks
from standout.analysis.checks.noise import Spread
from standout.analysis.checks.ranks import ALPHA, Arms, sort_rewards
from standout.analysis.checks.sources import BUSIEST, QUICK, STRETCH, agreement_of, look_at_sources
from standout.analysis.report_data import RewardTable
from standout.core.noise import Bernoulli, Bounded, Gaussian, GaussianUnknown, HeavyTailed, Noise
from standout.core.typing import Ints
from standout.results import Result
from standout.study.names import link_of
from standout.text import agree, count, listed, moment, plural, signed, span

FINE, WARNING, NOTE, SKIPPED = "fine", "warning", "note", "skipped"
"""The kinds of findings: no problem, a doubtful assumption, a remark, too little data."""


@dataclass(frozen=True)
class Finding(Result):
    """The result of one check. `p` bounds the probability of such data in a faultless study."""

    key: str
    title: str
    level: str
    text: str
    advice: str = ""
    p: float | None = None
    alpha: float | None = None


def statistical_findings(
    log: RewardTable, names: Sequence[str], noise: Noise, told: Callable[[str], object] = str
) -> list[Finding]:
    """The checks on the rewards, each with a false-alarm probability of ALPHA.

    `told` is called with a few words before each step.
    """
    told("sorting the rewards by arm")
    arms = sort_rewards(log.arm, log.reward, len(names))
    told("looking for drift")
    findings = [_drift(arms, log, names)]
    told("comparing rewards with those before them")
    findings += [_neighbours(arms)]
    told("looking at the spread of the rewards")
    findings += [_noise(arms, names, noise)]
    told("comparing workers")
    said = [_workers(arms, log), *_sources(arms, log), *_agreement(log), *_delay(arms, log)]
    return [*findings, *said]


def _tested(key: str, title: str, p: float, fine: str, warning: str, advice: str) -> Finding:
    bad = p < ALPHA
    return Finding(
        key, title, WARNING if bad else FINE, warning if bad else fine,
        advice if bad else "", p, ALPHA,
    )  # fmt: skip


def _too_few(key: str, title: str) -> Finding:
    text = (
        f"Not tested: there are fewer than {checks.FEWEST_IN_ALL} rewards of arms "
        "whose rewards vary."
    )
    return Finding(key, title, SKIPPED, text)


def _names(positions: Ints, names: Sequence[str]) -> str:
    return listed([names[int(i)] for i in positions])


def _drift(arms: Arms, log: RewardTable, names: Sequence[str]) -> Finding:
    key, title = "drift", "Drift over time"
    if not arms.is_enough:
        return _too_few(key, title)
    found = order_checks.trend_of(arms, arms.place / max(1, len(log) - 1), alone=True)
    amount = f"{signed(found.change)} (give or take {2 * found.error:.2g})"
    warning = "Late rewards of the same arms differ from early ones. " + (
        f"From the first to the last pull they changed by about {amount}."
        if abs(found.change) > 2 * found.error
        else f"Some rose and some fell: on average they changed by {amount}, which may be 0."
    )
    if len(found.arms):
        warning = (
            f"The rewards of {_names(found.arms, names)} changed during the study. "
            f"All arms together changed by about {amount} from the first pull to the last."
        )
    return _tested(
        key, title, found.p,
        "Early and late rewards of the same arm agree, up to chance.",
        warning,
        "The guarantee is about constant means. Find out what changed (tired raters, an "
        "instrument that warms up, other material) and measure again under equal conditions, or "
        "read the verdicts as statements about a moving target.",
    )  # fmt: skip


def _neighbours(arms: Arms) -> Finding:
    key, title = "neighbours", "Independence of rewards"
    if not arms.is_enough:
        return _too_few(key, title)
    p, correlation = order_checks.neighbours(arms)
    return _tested(
        key, title, p,
        "Consecutive rewards of an arm are no more alike than any two of its rewards.",
        "Consecutive rewards of an arm are alike (correlation "
        f"{correlation:.2f}), so each contains less information than the intervals assume.",
        "The guarantee needs independent rewards. Typical causes: drift, plates or batches with "
        "a common error, the same answer sent twice. Mix the order, or report one average per "
        "batch.",
    )  # fmt: skip


def _workers(arms: Arms, log: RewardTable) -> Finding:
    key, title = "workers", "Differences between workers"
    if len(log.workers) < 2:
        return Finding(key, title, SKIPPED, "Not tested: all rewards come from one worker.")
    if not arms.is_enough:
        return _too_few(key, title)
    found = worker_checks.compare_workers(arms, log.worker, len(log.workers))
    warning = (
        "A worker who measures an arm again tends to repeat the answer, so each reward contains "
        "less information than the intervals assume."
    )
    if found.p_differ <= found.p_repeat:
        warning = "On the same arms, some workers report larger rewards than others."
        parts = [
            f"{(log.names or log.workers)[int(w)]} ({signed(float(found.lean[w]))})"
            for w in found.odd[:5]
            if math.isfinite(found.lean[w])
        ]
        if parts:
            warning += f" Farthest from the others: {listed(parts)}."
    return _tested(
        key, title, found.p,
        f"{plural(len(log.workers), 'worker')}: the same rewards for the same arms, up to chance.",
        warning,
        "Rewards depend on who measured. If arms are assigned to workers at random, means stay "
        "comparable, but rewards may vary more than the noise family allows. Otherwise an arm "
        "may stand out because of who measured it. Calibrate the workers, leave one out, or let "
        "every worker measure every arm.",
    )  # fmt: skip


def _sources(arms: Arms, log: RewardTable) -> list[Finding]:
    """The check of rating links; only if raters answered by link."""
    found = look_at_sources(arms, log.worker, log.workers, log.time, log.delay)
    if found is None:
        return []
    said = []
    if found.is_narrow:
        said.append(f"The {BUSIEST} busiest of {count(found.raters)} raters gave "
                    f"{found.busiest:.0%} of the answers.")  # fmt: skip
    if found.is_too_quick:
        said.append(f"{found.quick:.0%} of the answers came within {QUICK:g} s, faster than "
                    "a person can read.")  # fmt: skip
    if found.p is not None and found.p < ALPHA:
        said.append(f"Answers by one link within {span(STRETCH)} differ from the other answers "
                    "about the same arms, or are too much alike.")  # fmt: skip
        said += [f"Look at {plural(number, 'answer')} by link {link} from {moment(begin)} on."
                 for link, begin, number in found.odd[:3]]  # fmt: skip
    fine = (
        f"Answers come from {plural(found.raters, 'rater')} by {plural(found.links, 'link')}; "
        "neither a few of them nor a burst dominates."
    )
    advice = (
        "The guarantee is about independent answers of the intended raters. Find out who had "
        "the link, void the answers of others, revoke the link, and hand out several links."
    )
    return [
        Finding(
            "sources", "Sources of the answers", WARNING if said else FINE,
            " ".join(said) if said else fine, advice if said else "",
            found.p, None if found.p is None else ALPHA,
        )
    ]  # fmt: skip


def _agreement(log: RewardTable) -> list[Finding]:
    """The check of the raters' agreement; only if several raters by link answered the same item."""
    by_raters = np.array([link_of(name) is not None for name in log.workers], dtype=np.bool_)
    found = agreement_of(log.arm, log.reward, by_raters[log.worker])
    if found is None:
        return []
    text = (
        f"Agreement {found.alpha:.2f} (Krippendorff's alpha). 1 means that raters of the same item "
        "always agree. 0 means that two answers to one item differ as much as two answers to any "
        "items. It comes from "
        f"{plural(found.answers, 'answer')} to {plural(found.items, 'item')} with two raters or "
        "more. Low agreement makes no verdict wrong; it takes more answers to reach one."
    )
    return [Finding("agreement", "Agreement between raters", NOTE, text)]


def _noise(arms: Arms, names: Sequence[str], noise: Noise) -> Finding:
    key, title = "noise", "Spread of the rewards"
    if isinstance(noise, Bernoulli):
        text = (
            "The mean of rewards 0 and 1 determines their spread, so no assumption can be wrong. "
            "Other values are refused, and other checks test for dependence."
        )
        return Finding(key, title, FINE, text)
    if isinstance(noise, Bounded):
        text = (
            f"Any spread within {noise.low:g} to {noise.high:g} is allowed; "
            "rewards outside are refused."
        )
        return Finding(key, title, FINE, text)
    if not arms.is_enough:
        return _too_few(key, title)
    if isinstance(noise, GaussianUnknown):
        return _shape(arms, key, title)
    if isinstance(noise, HeavyTailed):
        return _scale(noise_checks.heavy_spread(arms, noise.sigma), noise.sigma, key, title, names)
    assert isinstance(noise, Gaussian)
    return _scale(noise_checks.gaussian_spread(arms, noise.sigma), noise.sigma, key, title, names)


def _scale(found: Spread, sigma: float, key: str, title: str, names: Sequence[str]) -> Finding:
    deviation = sigma * math.sqrt(found.ratio)
    fine = (
        f"Around their arms' means rewards have a standard deviation of {deviation:.4g}; "
        f"up to {sigma:g} was assumed."
    )
    warning = (
        f"Rewards scatter more than assumed: around their arms' means the standard deviation is "
        f"{deviation:.4g}, and {sigma:g} was assumed."
    )
    if len(found.arms):
        warning += f" Too much alone: {_names(found.arms, names)}."
    if found.far:
        warning += (
            f" {plural(found.far, 'reward')} {agree(found.far, 'lies', 'lie')} farther out than "
            "such noise ever goes: "
            "typing errors, or heavy tails (noise heavy:SIGMA)."
        )
    return _tested(
        key, title, found.p, fine, warning,
        "The intervals are then too narrow and the guarantee does not hold. Create a new study "
        "with a larger sigma, or with a noise family that assumes less.",
    )  # fmt: skip


def _shape(arms: Arms, key: str, title: str) -> Finding:
    found = noise_checks.gaussian_shape(arms)
    warning = "Rewards are not Gaussian (bell-shaped) around their arms' means."
    if found.far:
        warning += f" {count(found.far)} of them lie extremely far out."
    return _tested(
        key, title, found.p,
        "Rewards look Gaussian around their arms' means, as assumed.",
        warning,
        "The intervals are exact for Gaussian rewards only. Create a new study with bounded:A,B "
        "or heavy:SIGMA noise, which allow any shape.",
    )  # fmt: skip


def _delay(arms: Arms, log: RewardTable) -> list[Finding]:
    """The check of quick answers; only if quick answers were counted before slow ones."""
    passed = checks.overtaken(log.arm, log.ticket)
    if log.is_ordered or passed == 0 or not arms.is_enough:
        return []
    delay = log.delay[arms.place]
    known = np.isfinite(delay)
    ranks = checks.middle_ranks(arms.arm, np.where(known, delay, 0.0))
    found = order_checks.trend_of(arms, np.where(known, ranks, 0.0), ignored=checks.ALIKE)
    early = f"{plural(passed, 'reward')} {agree(passed, 'was', 'were')}"
    return [
        _tested(
            "delay", "Slow and quick answers", found.p,
            f"{early} recorded before earlier pulls of the same arm. Quick and slow answers "
            "have the same values, so this does no harm.",
            f"Quick answers have other values than slow ones, and {early} recorded before "
            "earlier pulls of the same arm: the first answers are not a fair sample.",
            "Leave out --unordered when creating a study: rewards of an arm are then counted in "
            "the order of asking.",
        )
    ]  # fmt: skip
