"""Propensity and classifiers, on tables where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.utility.models import (
    MOST_RECORDS,
    Accuracy,
    classifier_accuracy,
    propensity_score,
)
from anon_pipeline.utility.records import Numeric, Table


def numbers(own, released, kept=None, **categories):
    own, released = np.asarray(own, float), np.asarray(released, float)
    kept = np.ones(len(own), bool) if kept is None else np.asarray(kept)
    released = np.where(kept, released, np.nan)
    found = {name: np.asarray(codes) for name, codes in categories.items()}
    return Table(kept, {}, {"y": Numeric(own, released)}, {}, found).in_order()


def test_a_release_that_changes_nothing_cannot_be_told_apart():
    own = np.random.default_rng(0).normal(size=200)
    assert propensity_score(numbers(own, own)) == pytest.approx(0.0, abs=1e-12)


def test_a_release_that_moves_everything_can():
    own = np.random.default_rng(0).normal(size=200)
    assert propensity_score(numbers(own, own + 8)) > 0.24
    assert propensity_score(numbers(own, own * 6)) > 0.05  # the mean stays, the variance tells


def test_the_score_is_bounded_by_the_shares():
    own = np.random.default_rng(0).normal(size=300)
    kept = np.arange(300) % 3 == 0
    found = propensity_score(numbers(own, own + 9, kept))
    assert 0.9 * 0.25 * 0.75 < found <= 0.25 * 0.75


def test_constant_columns_and_no_release():
    assert propensity_score(numbers(np.ones(5), np.ones(5))) == 0.0
    assert propensity_score(numbers(np.ones(5), np.ones(5), np.zeros(5, bool))) is None
    assert propensity_score(numbers([1, np.nan, 2], [1, np.nan, 2])) == pytest.approx(0.0, abs=1e-12)


def test_a_classifier_learns_what_is_there_and_nothing_else():
    rng = np.random.default_rng(0)
    own = rng.normal(size=600)
    label = (own > 0).astype(int)
    same = classifier_accuracy(numbers(own, own, label=label), "label")
    assert same.original == same.release > 0.95
    assert same.tested == 200
    lost = classifier_accuracy(numbers(own, np.zeros(600), label=label), "label")
    assert lost.original == same.original
    assert lost.release == lost.majority < 0.6


def test_held_out_records_do_not_train():
    own = np.arange(30.0)
    label = np.zeros(30, int)
    label[1::3] = 1  # exactly those that are held out
    found = classifier_accuracy(numbers(own, own, label=label), "label")
    assert found == Accuracy(original=0.0, release=0.0, majority=0.0, tested=10)


def test_nothing_released_and_too_many_labels():
    own, gone = np.arange(30.0), np.zeros(30, bool)
    found = classifier_accuracy(numbers(own, own, gone, label=np.arange(30) % 2), "label")
    assert found.release is None
    names = np.arange(99)
    assert classifier_accuracy(numbers(names, names, label=names), "label") is None
    assert classifier_accuracy(numbers(own, own), "y") is None
    assert classifier_accuracy(numbers(own, own), None) is None


def test_of_too_many_records_evenly_spaced_ones_are_taken():
    n = 2 * MOST_RECORDS
    own = np.repeat(np.arange(n / 2), 2)
    label = np.tile([0, 1], n // 2)
    found = classifier_accuracy(numbers(own, own, label=label), "label")
    assert found.tested == MOST_RECORDS // 3
