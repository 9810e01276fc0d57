from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout import METHODS, Method, MethodError, Problem
from standout.core.kinds import IntervalKind, RangeKind
from standout.core.methods import DEFAULT_METHOD, as_method, parse_method
from tests.naive import subset


def test_the_registry() -> None:
    assert DEFAULT_METHOD in METHODS
    assert all(name == method.name for name, method in METHODS.items())
    assert all(method.summary and method.reference for method in METHODS.values())
    rules = [method.rule.number for method in METHODS.values()]
    rules.append(parse_method("focus:goal=anytime").rule.number)
    assert len(set(rules)) == len(rules)


GOOD = [
    ("random", {}),
    (" Random ", {}),
    ("random:", {}),
    ("random:batch=10", {"batch": 10}),
    ("rr:growth=0.5", {"growth": 0.5}),
    ("random:interval=released", {"interval": IntervalKind.RELEASED}),
    ("roai-lucb:lambda=2,epsilon=0.1", {"subset": (2.0, 0.1)}),
    ("roai-elim: epsilon = 0.1 , lambda = 4 , batch = 3", {"subset": (4.0, 0.1), "batch": 3}),
]


@pytest.mark.parametrize(("text", "changes"), GOOD)
def test_parse(text: str, changes: dict[str, object]) -> None:
    name = text.partition(":")[0].strip().lower()
    method = parse_method(text)
    assert method == replace(METHODS[name], **changes)  # type: ignore[arg-type]
    assert parse_method(method.label()) == method


BAD = [
    ("", "no method ''; choose from focus, ade, combined, gold, joint, random, .*wrr"),
    ("ucb", "no method 'ucb'"),
    ("random:batch", "'batch' must look like batch=5"),
    ("random:batch=many", "batch"),
    ("random:batch=0", "batch must be a whole number of at least 1, not 0"),
    ("random:batch=2.5", "batch must be a whole number of at least 1, not 2.5"),
    ("random:batch=-1", "batch must be a whole number of at least 1, not -1"),
    ("random:batch=nan", "batch"),
    ("random:batch=inf", "batch"),
    ("random:growth=2", "growth must lie between 0 and 1, not 2"),
    ("random:growth=-0.1", "growth must lie between 0 and 1, not -0.1"),
    ("random:growth=nan", "growth"),
    ("random:size=3", "no method option size; choose from lambda, epsilon, batch, growth"),
    ("roai-lucb:lambda=2", "lambda and epsilon go together"),
    ("roai-lucb:epsilon=0.1", "lambda and epsilon go together"),
    ("roai-lucb:lambda=1,epsilon=0.1", "lambda must be at least 2, not 1"),
    ("roai-lucb:lambda=nan,epsilon=0.1", "lambda"),
    ("roai-lucb:lambda=inf,epsilon=0.1", "lambda"),
    ("roai-lucb:lambda=2,epsilon=0.5", r"epsilon must lie in \[0, 0.5\), not 0.5"),
    ("roai-lucb:lambda=2,epsilon=nan", "epsilon"),
    ("random:lambda=2,epsilon=0.1", "random has no subset option"),
    ("rr:lambda=2,epsilon=0.1", "rr has no subset option"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_parse_errors(text: str, message: str) -> None:
    with pytest.raises(MethodError, match=message):
        parse_method(text)


@given(
    st.sampled_from(["roai-lucb", "roai-elim", "roai-lucb-released", "roai-elim-released"]),
    st.none() | st.tuples(st.integers(2, 20), st.integers(0, 499).map(lambda i: i / 1000)),
    st.integers(1, 1000),
    st.integers(0, 1000).map(lambda i: i / 1000),
)
def test_a_label_is_read_back(
    name: str, part: tuple[float, float] | None, batch: int, growth: float
) -> None:
    method = replace(METHODS[name], subset=part, batch=batch, growth=growth)
    assert parse_method(method.label()) == method


def test_a_joint_bet_goes_with_its_own_rule() -> None:
    with pytest.raises(MethodError, match="random has no joint range; combined and joint have"):
        replace(METHODS["random"], range=RangeKind.JOINT)


@pytest.mark.parametrize("name", METHODS)
def test_a_plain_label_is_the_name(name: str) -> None:
    assert METHODS[name].label() == name
    assert as_method(name) is as_method(METHODS[name]) or as_method(name) == METHODS[name]


@given(
    st.integers(3, 5000),
    st.integers(2, 10).map(str),
    st.integers(0, 49).map(lambda i: f"{i / 100:.2f}"),
)
def test_subset_size(n: int, multiple: str, epsilon: str) -> None:
    method = replace(METHODS["roai-lucb"], subset=(float(multiple), float(epsilon)))
    assert method.subset_size(n) == subset.size(n, multiple, epsilon)


@pytest.mark.parametrize(
    ("n", "text", "size"),
    [
        (105, "lambda=2,epsilon=0.1", 21),  # 2 * 10 + 1
        (105, "lambda=4,epsilon=0.1", 41),
        (100, "lambda=2,epsilon=0.07", 15),  # exactly 7 outliers: 0.07 * 100 is 7.000000000000001
        (100, "lambda=2,epsilon=0.29", 59),  # 0.29 * 100 is 28.999999999999996
        (105, "lambda=2,epsilon=0", 15),
        (12, "lambda=2,epsilon=0.1", 12),
    ],
)
def test_known_subset_sizes(n: int, text: str, size: int) -> None:
    assert parse_method(f"roai-lucb:{text}").subset_size(n) == size


def test_without_a_subset_all_arms_count() -> None:
    assert METHODS["roai-lucb"].subset_size(1001) == 1001


@pytest.mark.parametrize("name", ["rr", "wrr"])
def test_bounded_rewards_only(name: str) -> None:
    message = f"{name} is defined for bounded rewards only; use bernoulli or bounded:A,B"
    with pytest.raises(MethodError, match=message):
        METHODS[name].spec(Problem(noise="gaussian:1"), 5)
    for noise in ("bernoulli", "bounded:-3,4"):
        assert METHODS[name].spec(Problem(noise=noise), 5).n_arms == 5


def test_a_spec_needs_three_arms() -> None:
    with pytest.raises(ValueError, match="at least 3 arms"):
        METHODS["random"].spec(Problem(noise="bernoulli"), 2)


def test_methods_are_values() -> None:
    assert isinstance(METHODS["random"], Method)
    with pytest.raises(AttributeError):
        METHODS["random"].batch = 3  # type: ignore[misc]
