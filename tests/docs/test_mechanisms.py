"""The documents name every mechanism and every key of ``perturb``, and the numbers are those of the laws."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import get_args

import pytest

from anon_pipeline.catalog.mechanisms import (
    CATEGORY_CHANGES,
    CATEGORY_MECHANISMS,
    MECHANISMS,
    NOISE_MECHANISMS,
)
from anon_pipeline.hierarchy.levels import from_columns
from anon_pipeline.hierarchy.table_files import tree_levels
from anon_pipeline.perturb.category_law import (
    LARGEST_EPSILON,
    STEPS,
    CategoryNoise,
    expected_distance,
    flat_domain,
    hierarchy_domain,
    keep_probabilities,
)
from anon_pipeline.perturb.mechanisms import Noise, cdf, mean_absolute
from anon_pipeline.policy.categories import MOST_VALUES, PerturbCategories
from anon_pipeline.policy.columns import Perturb
from anon_pipeline.policy.kind_names import CategoryMechanism, Mechanism
from anon_pipeline.policy.sections import PerturbSection

DOCS = Path(__file__).resolve().parents[2] / "docs"
POLICY = (DOCS / "policy.md").read_text(encoding="utf-8")
SECTION = POLICY.split("\n## perturb\n")[1].split("\n## ")[0]
COLUMN = POLICY.split("\n**`perturb`**")[1].split("\n\n**`")[0]
TEXT = (DOCS / "mechanisms.md").read_text(encoding="utf-8")


def noise_of(mechanism: str, epsilon: Fraction) -> Noise:
    return Noise(mechanism, epsilon, Fraction(1, 10**6) if mechanism == "discrete_gaussian" else None)


def test_the_policy_knows_the_mechanisms_that_there_are() -> None:
    assert get_args(Mechanism) == tuple(MECHANISMS)


def test_each_key_of_the_section_has_one_row() -> None:
    keys = re.findall(r"^\| `(\w+)` \|", SECTION, re.M)
    assert sorted(keys) == sorted(PerturbSection.model_fields)
    assert all(f"`{mechanism}`" in SECTION for mechanism in MECHANISMS)


@pytest.mark.parametrize("key", sorted(set(Perturb.model_fields) - {"role"}))
def test_each_key_of_a_column_is_explained(key: str) -> None:
    assert re.search(rf"`{key}[:`]", COLUMN)


@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
def test_each_mechanism_has_a_row_of_what_it_guarantees_with_its_error(mechanism: str) -> None:
    (row,) = re.findall(rf"^\| `{mechanism}`(?: \(default\))? \| (?!proportional|equal)(.*) \|$", TEXT, re.M)
    told = [int(number) for number in re.findall(r"(\d+)(?:;| \||  | \()", row.split(" | ")[1] + " |")[:3]]
    found = [float(mean_absolute(noise_of(mechanism, Fraction(e)), 100)) for e in (1, 2, 4)]
    assert told == [round(value) for value in found]
    assert len(re.findall(rf"^\| `{mechanism}` \| (?:proportional|equal)", TEXT, re.M)) == 1


def test_what_is_said_of_the_staircase() -> None:
    assert f"at most ε = {MECHANISMS['staircase'].most_epsilon:g} for the column" in TEXT
    assert "by 45 % at ε = 4, 15 % at 2, 1 % at\n0.5" in TEXT
    for epsilon, less in [(Fraction(4), 45), (Fraction(2), 15), (Fraction(1, 2), 1)]:
        pair = [mean_absolute(noise_of(m, epsilon), 100) for m in ("staircase", "discrete_laplace")]
        assert round(100 * (1 - float(pair[0] / pair[1]))) == less
    noise = noise_of("staircase", Fraction(2))
    assert round(100 * float(cdf(noise, 100, 100) - cdf(noise, -101, 100))) == 87


@pytest.mark.parametrize("document", ["README.md", "docs/policy.md"])
def test_the_table_of_mechanisms_is_found(document: str) -> None:
    text = (DOCS.parent / document).read_text(encoding="utf-8")
    assert re.search(r"\]\((docs/)?mechanisms\.md\)", text)


CATEGORIES = POLICY.split("\n**`perturb`, categories**")[1].split("\n\n**`")[0]
SIXTY = {f"part {i}": {f"{i} {j}": [f"{i} {j} {n}" for n in range(5)] for j in range(3)} for i in range(4)}


@pytest.mark.parametrize("key", sorted(set(PerturbCategories.model_fields) - {"role"}))
def test_each_key_of_a_column_with_categories_is_explained(key: str) -> None:
    assert re.search(rf"`{key}[:`]", CATEGORIES)


def test_the_policy_knows_the_mechanisms_of_categories() -> None:
    assert get_args(CategoryMechanism) == (*CATEGORY_MECHANISMS, *CATEGORY_CHANGES)
    assert {one.most_epsilon for one in CATEGORY_MECHANISMS.values()} == {LARGEST_EPSILON}
    assert f"2 to {MOST_VALUES:,}" in CATEGORIES
    assert f"{STEPS:,} steps" in TEXT


@pytest.mark.parametrize("mechanism", CATEGORY_MECHANISMS)
def test_each_mechanism_of_categories_has_a_row_with_its_numbers(mechanism: str) -> None:
    domain = hierarchy_domain(from_columns("x", tree_levels("x", SIXTY)))
    drawn = [CategoryNoise(mechanism, Fraction(epsilon), domain) for epsilon in (1, 2, 4, 8)]
    (row,) = re.findall(rf"^\| `{mechanism}` \| (.*) \|$", TEXT, re.M)
    _, _, share, far = row.split(" | ")
    assert share == "; ".join(f"{100 * keep_probabilities(noise).mean():.0f}" for noise in drawn)
    assert far == "; ".join(f"{expected_distance(noise).mean():.2f}" for noise in drawn)


def test_what_is_said_of_few_values() -> None:
    for size, percent in [(2, 73), (10, 23)]:
        flat = flat_domain([str(value) for value in range(size)])
        assert (
            round(100 * keep_probabilities(CategoryNoise("randomized_response", Fraction(1), flat))[0])
            == percent
        )
    assert "For two values, ε = 1 keeps 73 %; for ten, 23 %" in TEXT


@pytest.mark.parametrize("mechanism", CATEGORY_CHANGES)
def test_each_change_of_categories_is_described(mechanism: str) -> None:
    part = TEXT.partition("### Columns with categories that are changed")[2].partition("\n## ")[0]
    assert f"`{mechanism}`" in part and f"`{mechanism}`" in CATEGORIES


def test_each_mechanism_of_whole_columns_is_described_and_measured() -> None:
    part = TEXT.partition("## Columns that are changed as a whole")[2].partition("\n## ")[0]
    for mechanism in set(MECHANISMS) - set(NOISE_MECHANISMS):
        described, *measured = re.findall(rf"^\| `{mechanism}` \| (.*) \|$", part, re.M)
        assert described.count("|") == 1 and measured and all(row.count("|") == 6 for row in measured)
