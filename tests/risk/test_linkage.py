from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.risk.comparison import LinkageFiles, distance_levels, levels_of
from anon_pipeline.risk.linkage import (
    PairLinkage,
    Rule,
    exact_linkage,
    probabilistic_linkage,
    rules_linkage,
    threshold_linkage,
)
from tests.example_counts import examples_of

CUTS = (np.array([0.0, 2.0]), np.array([1.0]))


@st.composite
def files(draw):
    n, a = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    c, p = draw(st.sampled_from([(1, 0), (0, 1), (1, 1), (2, 2)]))
    cell = st.integers(0, 3)

    def table(rows, columns):
        row = st.tuples(*[cell] * columns)
        return np.array(draw(st.lists(row, min_size=rows, max_size=rows)), np.int64).reshape(rows, columns)

    numbers = table(a, p).astype(float), table(n, p).astype(float)
    own = np.array(draw(st.lists(st.integers(0, n - 1), min_size=a, max_size=a)))
    return LinkageFiles(table(a, c), table(n, c), *numbers, own)


def counted(files, classify):
    """Every pair classified by itself: 2 match, 1 potential, 0 different."""
    a, n = len(files.own), len(files.codes)
    calls = [[classify(i, j) for j in range(n)] for i in range(a)]
    own = [calls[i][files.own[i]] for i in range(a)]
    only = [own[i] == 2 and calls[i].count(2) == 1 for i in range(a)]
    success = sum((Fraction(1, calls[i].count(2)) for i in range(a) if own[i] == 2), Fraction(0)) / a
    return PairLinkage(
        a,
        sum(row.count(2) for row in calls),
        own.count(2),
        sum(row.count(1) for row in calls),
        own.count(1),
        sum(only),
        sum(only) / a,
        pytest.approx(float(success), abs=1e-12),
    )


def pair(files, i, j):
    codes = files.known_codes[i] == files.codes[j]
    return codes.tolist(), np.abs(files.known_numbers[i] - files.numbers[j]).tolist()


def pattern(files, i, j, cuts):
    codes, apart = pair(files, i, j)
    return (*(int(not x) for x in codes), *(int((x > cut).sum()) for x, cut in zip(apart, cuts, strict=True)))


@given(files())
def test_exact_equals_the_definition(files):
    def classify(i, j):
        codes, apart = pair(files, i, j)
        return 2 * (all(codes) and not any(apart))

    assert exact_linkage(files) == counted(files, classify)


@given(files(), st.sampled_from([(0.5, 0.25), (1.0, 1.0), (0.75, 0.5)]))
def test_threshold_equals_the_definition(files, thresholds):
    spans = np.ptp(files.known_numbers, axis=0).tolist()

    def classify(i, j):
        codes, apart = pair(files, i, j)
        sims = [Fraction(int(x)) for x in codes]
        for x, span in zip(apart, spans, strict=True):
            sims.append(max(Fraction(0), 1 - Fraction(x) / Fraction(span)) if span else Fraction(x == 0))
        sim = sum(sims, Fraction(0)) / len(sims)
        return 2 if sim >= Fraction(thresholds[0]) else int(sim >= Fraction(thresholds[1]))

    found = threshold_linkage(files, upper=thresholds[0], lower=thresholds[1])
    assert found == counted(files, classify)


@given(files())
def test_rules_equal_the_definition_and_the_first_decides(files):
    cuts = CUTS[: files.numbers.shape[1]]
    rules = [
        Rule("different", lambda levels: levels[:, 0] > 0),
        Rule("match", lambda levels: (levels <= 1).all(axis=1) & ~(levels[:, -1] == 1)),
        Rule("potential", lambda levels: levels[:, -1] == 1),
    ]

    def classify(i, j):
        levels = pattern(files, i, j, cuts)
        if levels[0] > 0:
            return 0
        if max(levels) <= 1 and levels[-1] != 1:
            return 2
        return int(levels[-1] == 1)

    assert rules_linkage(files, levels_of(files, cuts), rules) == counted(files, classify)


@settings(max_examples=examples_of(60))
@given(files(), st.sampled_from([(0.0, 0.0), (0.3, 0.4), (1.0, 1.0)]))
def test_probabilistic_equals_the_definition(files, errors):
    a, n, cuts = len(files.own), len(files.codes), CUTS[: files.numbers.shape[1]]
    seen = {(i, j): pattern(files, i, j, cuts) for i in range(a) for j in range(n)}
    true = [seen[i, files.own[i]] for i in range(a)]
    other = [at for (i, j), at in seen.items() if j != files.own[i]]

    def ratio(levels):
        m, u = true.count(levels), other.count(levels)
        return float("inf") if m and not u else Fraction(m, u) if u else Fraction(0)

    def classify(i, j):
        r = ratio(seen[i, j])
        if sum(ratio(at) >= r for at in other) <= errors[0] * max(len(other), 1):
            return 2
        return 0 if sum(ratio(at) <= r for at in true) <= errors[1] * a else 1

    found = probabilistic_linkage(files, levels_of(files, cuts), false_matches=errors[0], missed=errors[1])
    ratios = [[ratio(seen[i, j]) for j in range(n)] for i in range(a)]
    hits = [max(row) == row[own] for row, own in zip(ratios, files.own, strict=True)]
    shares = [hit / row.count(max(row)) for hit, row in zip(hits, ratios, strict=True)]
    assert (found.linked, found.risk) == (sum(hits), sum(hits) / a)
    assert found.attacker_success == pytest.approx(sum(shares) / a, abs=1e-12)
    assert found.pairs == counted(files, classify)


@given(files(), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(files, random):
    here, there = list(range(len(files.own))), list(range(len(files.codes)))
    random.shuffle(here)
    random.shuffle(there)
    moved = LinkageFiles(
        files.known_codes[here],
        files.codes[there],
        files.known_numbers[here],
        files.numbers[there],
        np.argsort(there)[files.own][here],
    )
    assert exact_linkage(moved) == exact_linkage(files)
    assert threshold_linkage(moved, upper=0.8) == threshold_linkage(files, upper=0.8)
    levels = distance_levels(files), distance_levels(moved)
    assert [each.tolist() for each in levels[0].cuts] == [each.tolist() for each in levels[1].cuts]
    assert probabilistic_linkage(moved, levels[1]) == probabilistic_linkage(files, levels[0])


def test_noise_that_hides_nobody_is_seen_through():
    rng = np.random.default_rng(0)
    numbers = rng.permutation(500)[:, None] * 10.0
    codes = rng.integers(0, 3, (500, 1))
    near = LinkageFiles(codes, codes, numbers, numbers + rng.integers(-4, 5, (500, 1)), np.arange(500))
    found = probabilistic_linkage(near, distance_levels(near))
    assert (found.risk, found.pairs.linked) == (1.0, 500)
    far = LinkageFiles(codes, codes, numbers, rng.permutation(numbers), np.arange(500))
    assert probabilistic_linkage(far, distance_levels(far)).attacker_success < 0.05


def test_one_record_and_constant_columns_are_defined():
    one = LinkageFiles(*(np.zeros((1, 1), int),) * 2, *(np.zeros((1, 1)),) * 2, np.zeros(1, int))
    assert probabilistic_linkage(one, distance_levels(one)).risk == 1.0
    assert threshold_linkage(one, upper=1.0).linked == exact_linkage(one).linked == 1
    same = LinkageFiles(*(np.zeros((9, 1), int),) * 2, *(np.zeros((9, 1)),) * 2, np.arange(9))
    found = probabilistic_linkage(same, distance_levels(same))
    assert (found.risk, found.attacker_success) == (1.0, pytest.approx(1 / 9))
    assert exact_linkage(same).risk == 0.0


def test_what_does_not_fit_is_refused():
    codes, numbers = np.zeros((2, 1), int), np.zeros((2, 0))
    for arrays in (
        (codes[:0], codes, numbers[:0], numbers, np.zeros(0, int)),
        (codes[:, :0], codes[:, :0], numbers, numbers, np.arange(2)),
        (codes, codes[:, [0, 0]], numbers, numbers, np.arange(2)),
        (codes, codes, numbers, np.zeros((2, 1)), np.arange(2)),
        (codes, codes[:1], numbers, numbers, np.arange(2)),
    ):
        with pytest.raises(ValueError, match="files must"):
            LinkageFiles(*arrays)
    with pytest.raises(ValueError, match="own must lie"):
        LinkageFiles(codes, codes, numbers, numbers, np.array([0, 2]))
    fit = LinkageFiles(codes, codes, np.zeros((2, 1)), np.zeros((2, 1)), np.arange(2))
    for upper, lower in ((0.5, 0.6), (0.0, 0.0), (1.1, 0.5)):
        with pytest.raises(ValueError, match="thresholds must keep"):
            threshold_linkage(fit, upper=upper, lower=lower)
    with pytest.raises(ValueError, match="ranges must"):
        threshold_linkage(fit, upper=0.5, ranges=np.array([-1.0]))
    for cuts in ((), (np.array([1.0, 1.0]),)):
        with pytest.raises(ValueError, match="cuts must ascend"):
            levels_of(fit, cuts)
    with pytest.raises(ValueError, match="levels must be at least 2"):
        distance_levels(fit, levels=1)
    wide = LinkageFiles(*(np.zeros((2, 21), int),) * 2, numbers, numbers, np.arange(2))
    with pytest.raises(InputError, match="at most 1048576 combinations"):
        levels_of(wide, ())
