from __future__ import annotations

import csv
import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout.core import robust
from standout.core.noise import Bernoulli, Bounded, Gaussian, GaussianUnknown
from standout.core.problem import Problem
from standout.errors import InstanceError
from standout.simulation.instances import (
    BUILTINS,
    FixedFamily,
    Instance,
    NumberedArms,
    make_instance,
    parse_instance,
)
from standout.simulation.instances.figures import thresholds_agree
from standout.simulation.instances.table import read_table
from standout.simulation.rewards import rewards_of


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


class TestInstance:
    def test_answers(self) -> None:
        instance = make_instance("five", [0.0, 1.0, 2.0, 3.0, 9.0], Gaussian(1.0))
        problem = Problem(noise=Gaussian(1.0), k=2, mad_scale=1)
        assert instance.n_arms == 5
        assert instance.threshold(problem) == 4.0
        assert instance.truth(problem).tolist() == [False] * 4 + [True]
        assert instance.min_gap(problem) == 1.0
        low = Problem(noise=Gaussian(1.0), k=2, mad_scale=1, side="low")  # type: ignore[arg-type]
        assert instance.threshold(low) == 0.0
        assert not instance.truth(low).any()

    def test_is_apart_from_the_callers_array(self) -> None:
        means = np.array([0.0, 1.0, 2.0])
        instance = make_instance("three", means, Gaussian(1.0))
        means[0] = 7.0
        assert instance.means[0] == 0.0
        with pytest.raises(ValueError, match="read-only"):
            instance.means[0] = 7.0

    @pytest.mark.parametrize(
        ("arms", "means", "sigmas", "words"),
        [
            ("ab", [1.0, 2.0], None, "at least 3 arms"),
            ("ab", [1.0, 2.0, 3.0], None, "2 names for 3 means"),
            ("aba", [1.0, 2.0, 3.0], None, "same name"),
            ("abc", [1.0, np.nan, 3.0], None, "'b'.*not a finite"),
            ("abc", [1.0, 2.0, 3.0], [1.0, 2.0], "2 sigmas for 3"),
            ("abc", [1.0, 2.0, 3.0], [1.0, 0.0, 1.0], "'b'.*sigma above 0"),
            ("abc", [1.0, 2.0, 3.0], [1.0, 1.0, 3.0], "'c'.*above the 2 of gaussian:2.0"),
        ],
    )
    def test_refuses(
        self, arms: str, means: list[float], sigmas: list[float] | None, words: str
    ) -> None:
        own = None if sigmas is None else np.array(sigmas)
        with pytest.raises(InstanceError, match=words):
            Instance("mine", tuple(arms), np.array(means), Gaussian(2.0), own)

    def test_means_must_be_possible(self) -> None:
        with pytest.raises(InstanceError, match=r"'arm-2' \(mean 1\.5\).*\[0, 1\].*bernoulli"):
            make_instance("mine", [0.5, 1.5, 0.2], Bernoulli())
        make_instance("mine", [0.5, 1.5, 0.2], Bounded(0.0, 2.0))

    def test_own_sigmas_must_be_possible(self) -> None:
        means = np.full(3, 0.5)
        with pytest.raises(InstanceError, match="take no sigma"):
            Instance("mine", tuple("abc"), means, Bernoulli(), np.ones(3))
        with pytest.raises(InstanceError, match=r"no rewards within \[0, 1\]"):
            Instance("mine", tuple("abc"), means, Bounded(0.0, 1.0), np.full(3, 0.5))
        Instance("mine", tuple("abc"), means, Bounded(0.0, 1.0), np.full(3, 0.2))

    def test_a_sigma_that_no_method_knows_must_be_given(self) -> None:
        instance = make_instance("mine", [0.5, 1.5, 0.2], GaussianUnknown())
        with pytest.raises(InstanceError, match="in a column sigma"):
            rewards_of(instance.means, instance.noise, instance.sigmas)


@given(st.integers(1, 2000), st.data())
def test_numbered_arms_are_a_sequence(n: int, data: st.DataObject) -> None:
    arms = NumberedArms(n)
    names = [f"arm-{i:0{len(str(n))}d}" for i in range(1, n + 1)]
    assert list(arms) == names == sorted(names)
    index = data.draw(st.integers(-n, n - 1))
    assert arms[index] == names[index]
    assert list(arms[index:]) == names[index:]
    with pytest.raises(IndexError):
        arms[n]


class TestFigures:
    @pytest.mark.parametrize("gap", [0.6, 0.4, 0.2])
    def test_fig1(self, gap: float) -> None:
        family = parse_instance(f"fig1:gap={gap}")
        assert (family.default_k, family.default_delta, family.is_random) == (2.0, 0.05, False)
        instance = family.draw(rng())
        problem = Problem(noise=family.noise, k=family.default_k)
        assert instance.n_arms == 17
        assert round(instance.threshold(problem), 4) == 2.8373
        assert instance.min_gap(problem) == pytest.approx(gap)
        assert instance.truth(problem).nonzero()[0].tolist() == [15, 16]
        assert instance.means[16] - instance.means[15] == pytest.approx(0.2)
        assert instance.noise == Gaussian(0.5)

    def test_fig1_has_a_default(self) -> None:
        assert parse_instance("fig1").name == "fig1:gap=0.4"

    def test_fig4(self) -> None:
        family = parse_instance("fig4")
        assert family.is_random
        assert (family.default_k, family.default_delta) == (3.0, 0.05)
        problem = Problem(noise=family.noise, k=family.default_k)
        draws = [family.draw(rng(seed)) for seed in range(100)]
        for instance in draws:
            assert instance.n_arms == 105
            assert instance.truth(problem).nonzero()[0].tolist() == list(range(100, 105))
            assert thresholds_agree(instance.means)
            assert 0.075 <= instance.means.min() < instance.means.max() <= 1
        gaps = [instance.min_gap(problem) for instance in draws]
        assert np.mean(gaps) == pytest.approx(0.062, abs=0.01)
        assert (draws[0].means == family.draw(rng(0)).means).all()
        assert (draws[0].means != draws[1].means).any()

    def test_wine(self) -> None:
        instance = parse_instance("wine").draw(rng())
        means = instance.means
        assert instance.n_arms == 123
        assert round(robust.median(means), 6) == 0.242187
        assert round(robust.mad(means), 6) == 0.096650
        assert round(robust.mean_std_threshold(means, 3), 6) == 0.805249
        problem = Problem(noise="bernoulli")  # type: ignore[arg-type]
        assert round(instance.threshold(problem), 6) == 0.672065
        assert round(instance.min_gap(problem), 6) == 0.108205
        found = {instance.arms[i]: round(means[i], 4) for i in instance.truth(problem).nonzero()[0]}
        assert found == {
            "wine-005": 1.0,
            "wine-053": 0.9361,
            "wine-007": 0.8681,
            "wine-016": 0.8552,
            "wine-057": 0.8463,
        }
        by_spread = means > robust.mean_std_threshold(means, 3)
        assert (by_spread == instance.truth(problem)).all()
        gone = {f"wine-{row:03d}" for row in (9, 32, 37, 48, 56, 73)}
        assert not gone & set(instance.arms)

    def test_wine_can_be_made_again(self) -> None:
        pytest.importorskip("sklearn")
        path = Path(__file__).parents[3] / "tools" / "make_wine.py"
        tool = runpy.run_path(str(path), run_name="make_wine")
        rows, means = tool["wine_means"]()
        instance = parse_instance("wine").draw(rng())
        assert list(instance.arms) == [f"wine-{row:03d}" for row in rows]
        assert instance.means == pytest.approx(means, abs=1e-12)


class TestNormal:
    def test_defaults(self) -> None:
        family = parse_instance("normal")
        instance = family.draw(rng())
        assert (family.is_random, family.noise, instance.n_arms) == (True, Bernoulli(), 1001)
        assert (instance.means[:-5] <= 0.525).all()
        assert (instance.means[-5:] >= 0.8).all()

    def test_options(self) -> None:
        text = "normal:n=21, outliers=2,mean=10,sd=2,low=30,high=40,noise=gaussian,sigma=3"
        instance = parse_instance(text).draw(rng())
        assert instance.noise == Gaussian(3.0)
        assert instance.n_arms == 21
        assert ((instance.means[:-2] >= 4) & (instance.means[:-2] <= 16)).all()
        assert ((instance.means[-2:] >= 30) & (instance.means[-2:] <= 40)).all()

    def test_a_seed_fixes_the_means(self) -> None:
        family = parse_instance("normal:n=51,seed=7")
        assert not family.is_random
        assert family.draw(rng(1)) is family.draw(rng(2))
        again = parse_instance("normal:n=51,seed=7").draw(rng())
        assert (again.means == family.draw(rng()).means).all()
        assert (again.means == parse_instance("normal:n=51").draw(rng(7)).means).all()

    def test_a_million_arms(self) -> None:
        instance = parse_instance("normal:n=1000001").draw(rng())
        assert len(instance.arms) == instance.n_arms == 1_000_001
        assert instance.arms[-1] == "arm-1000001"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nothing", "no instance 'nothing'.*fig1, fig4, wine, normal.*CSV"),
        ("", "no instance"),
        ("no/such.csv", "no file 'no/such.csv'.*fig1"),
        ("fig1:gap", "needs a value: gap="),
        ("fig1:gap=", "needs a value: gap="),
        ("fig1:gap=x", "must be a number, not 'x'"),
        ("fig1:gap=nan", "must be a number, not 'nan'"),
        ("fig1:gap=0", "above 0"),
        ("fig1:gap=1,gap=2", "given twice"),
        ("fig1:hole=1", "no option 'hole'; choose from gap"),
        ("fig4:n=3", "no option 'n'; it has none"),
        ("wine:n=3", "it has none"),
        ("normal:m=3", "choose from n, outliers, mean, sd, low, high, noise, sigma, seed"),
        ("normal:n=2", "whole number of at least 3"),
        ("normal:n=3.5", "whole number"),
        ("normal:n=4,outliers=5", "more than the n=4"),
        ("normal:sd=-1", "sd must not be negative"),
        ("normal:low=.9,high=.8", "low=0.9 is above high=0.8"),
        ("normal:mean=.2", r"reach from -0\.025 to 1.*\[0, 1\]"),
        ("normal:noise=cauchy", "bernoulli or gaussian, not 'cauchy'"),
        ("normal:noise=gaussian,sigma=0", "above 0"),
        ("normal:sigma=1", "noise=gaussian only"),
        ("normal:seed=-1", "at least 0"),
    ],
)
def test_what_cannot_be_parsed(text: str, words: str) -> None:
    with pytest.raises(InstanceError, match=words):
        parse_instance(text)


def test_built_ins_know_their_noise() -> None:
    assert parse_instance("wine", Bernoulli()).noise == Bernoulli()
    for name in BUILTINS:
        with pytest.raises(InstanceError, match=r"has .* noise, not gaussian"):
            parse_instance(name, Gaussian(7.0))


class TestTable:
    def test_plain(self, table) -> None:
        family = parse_instance(table("arm,mean\na,0.1\nb,0.2\nc,0.9\n"), Bernoulli())
        instance = family.draw(rng())
        assert isinstance(family, FixedFamily)
        assert (family.default_k, family.default_delta, family.is_random) == (3.0, 0.05, False)
        assert instance.arms == ("a", "b", "c")
        assert instance.means.tolist() == [0.1, 0.2, 0.9]
        assert instance.sigmas is None

    def test_sigma_column(self, table) -> None:
        path = table("Mean, SIGMA ,arm\r\n1,.5,a\r\n2,.25,b\r\n3,2,c\r\n")
        instance = parse_instance(path).draw(rng())
        assert instance.noise == Gaussian(2.0)
        assert instance.sigmas is not None
        assert instance.sigmas.tolist() == [0.5, 0.25, 2.0]
        assert parse_instance(path, Gaussian(3.0)).noise == Gaussian(3.0)
        with pytest.raises(InstanceError, match=r"'c'.*sigma above the 1 of"):
            parse_instance(path, Gaussian(1.0))
        with pytest.raises(InstanceError, match="no rewards within"):
            parse_instance(path, Bounded(0.0, 3.5))

    def test_byte_order_mark_blank_lines_and_any_name(self, table) -> None:
        text = '\ufeffarm,mean\n"a, b",1\n"say ""hi""",2\n水,3\n"two\nlines",4\n\n , \n'
        instance = parse_instance(table(text), Gaussian(1.0)).draw(rng())
        assert instance.arms == ("a, b", 'say "hi"', "水", "two\nlines")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "the file is empty"),
            ("\n\n", "the file is empty"),
            ("name,mean\na,1\n", "line 1: no column 'arm'.*not 'name', 'mean'"),
            ("a,1\nb,2\nc,3\n", "line 1: no column 'arm'"),
            ("arm,value\na,1\n", "line 1: no column 'mean'"),
            ("arm,mean,sgima\na,1,1\n", "line 1: unknown column 'sgima'"),
            ("arm,mean,mean\na,1,1\n", "line 1: column 'mean' is there twice"),
            ("arm,mean\na,1\nb,2\na,3\n", "line 4: arm 'a' is already on line 2"),
            ("arm,mean\na,1\n\nb,x\n", "line 4: mean must be a number, not 'x'"),
            ("arm,mean\na,1\nb,\n", "line 3: mean must be a number, it is empty"),
            ("arm,mean\na,nan\n", "line 2: mean must be finite, not nan"),
            ("arm,mean\na,-inf\n", "line 2: mean must be finite"),
            ("arm,mean\na,1e999\n", "line 2: mean must be finite"),
            ("arm,mean\na,1\nb,2\n", "at least 3 arms are needed, the file has 2"),
            ("arm,mean\n", "the file has 0"),
            ("arm,mean\na,1,5\n", "line 2: 3 values for 2 columns"),
            ("arm,mean\na\n", "line 2: 1 values for 2 columns"),
            ("arm,mean\n ,1\n", "line 2: the arm has no name"),
            ("arm,mean,sigma\na,1,0\n", "line 2: sigma must be above 0, not 0"),
            ("arm,mean,sigma\na,1,-2\n", "line 2: sigma must be above 0"),
            ('arm,mean\n"x\ny",1\nb,z\n', "line 4: mean must be a number"),
            ('arm,mean\na,1\n"b,2\n', "line 3: not valid CSV"),
            (b"arm,mean\n\xff\xfe,1\n", "UTF-8"),
            ("arm,mean\na,1\nb,2\nc,3\n", "--noise"),
        ],
    )
    def test_says_what_is_wrong(self, table, text: str | bytes, words: str) -> None:
        with pytest.raises(InstanceError, match=words):
            parse_instance(table(text))

    def test_impossible_mean(self, table) -> None:
        with pytest.raises(InstanceError, match=r"arm 'c' \(mean 3\).*bernoulli"):
            parse_instance(table("arm,mean\na,1\nb,0\nc,3\n"), Bernoulli())

    def test_a_folder_is_not_a_table(self, tmp_path: Path) -> None:
        with pytest.raises(InstanceError, match="cannot be read"):
            parse_instance(str(tmp_path))

    @given(
        st.dictionaries(
            # Names are stripped, and no file in UTF-8 can hold half a surrogate pair.
            st.text(st.characters(exclude_categories=["Cs"])).map(str.strip).filter(bool),
            st.floats(allow_nan=False, allow_infinity=False),
            min_size=3,
        )
    )
    def test_reads_back_what_csv_writes(self, means: dict[str, float]) -> None:
        class Lines(list[str]):
            write = list.append

        lines = Lines()
        csv.writer(lines).writerows([("arm", "mean"), *means.items()])
        back = read_table("".join(lines), "table")
        assert dict(zip(back.arms, back.means.tolist(), strict=True)) == means
