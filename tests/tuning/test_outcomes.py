"""What becomes of a table by variants: as gate, utility and tuning say, and nothing is left behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.locations import Locations
from anon_pipeline.tuning.grid import Grid
from anon_pipeline.tuning.outcomes import Measured, measure_variants
from anon_pipeline.tuning.tune import tune
from anon_pipeline.tuning.variants import variants_of
from tests.tuning.policies import people, policy

DEFAULTS = "type: anon_pipeline.PolicyDefaults\nattributes: {anonymize: {k: 15}}\n"


@pytest.fixture
def places(tmp_path: Path) -> Locations:
    people().to_csv(tmp_path / "people.csv", index=False)
    return Locations(*(tmp_path,) * 4)


def measured(own, places: Locations, *settings: str, **how) -> list[Measured]:
    return list(measure_variants(variants_of(own, settings), places, **how))


def test_variants_of_given_classes_are_made_of_the_other_columns(tmp_path: Path) -> None:
    frame = people().assign(own=np.arange(len(people())) // 50)
    frame.to_csv(tmp_path / "people.csv", index=False)
    given = {"recoder": "given", "classes": "own", "k": 20, "loss": "granularity"}
    found = measured(policy(anonymize=given, suppress={}), Locations(*(tmp_path,) * 4), "recoder=mondrian")
    assert [(one.problem, one.outcome is None) for one in found] == [("", False)] * 2
    point = tune(
        policy(anonymize=given, suppress={}), frame, Grid(k=(20,), recoder=("given", "mondrian"))
    ).points
    assert {one.choice.recoder for one in point} == {"given", "mondrian"}


def test_numbers_are_those_of_tuning_and_of_the_release(places: Locations) -> None:
    own = policy(anonymize={"k": 20, "loss": "granularity", "suppression_limit": 0.1}, suppress={})
    base, larger, cut = measured(own, places, "k=40", "recoder=mondrian")
    points = tune(own, people(), Grid(k=(20, 40), recoder=("ola", "mondrian"))).points
    by_choice = {(point.choice.recoder, point.choice.k): point.expected for point in points}
    for one, key in ((base, ("ola", 20)), (larger, ("ola", 40)), (cut, ("mondrian", 20))):
        want, own_outcome = by_choice[key], one.outcome
        assert own_outcome is not None
        assert own_outcome.linking == pytest.approx(want.linking_released, abs=1e-9)
        assert own_outcome.granularity == pytest.approx(want.information_loss, abs=1e-9)
        assert own_outcome.released == pytest.approx(1 - want.suppression, abs=1e-9)
        assert own_outcome.noise == pytest.approx(want.error_of_range, abs=1e-9)
        moved = own_outcome.noise * own_outcome.released + 1 - own_outcome.released
        assert own_outcome.loss == pytest.approx((own_outcome.granularity + moved) / 2)
        assert own_outcome.score == pytest.approx((own_outcome.linking + own_outcome.loss) / 2)
        assert own_outcome.smallest_class >= one.k


def test_the_gate_judges_each_as_a_first_release(places: Locations) -> None:
    own = policy(columns={"weight": {"role": "identifier"}}, gate={"linking_risk": 0.06})
    base, noisy = measured(own, places, "epsilon=60,confidence=none")
    assert base.outcome is not None and base.outcome.passes and base.outcome.refused == ()
    assert noisy.outcome is not None and noisy.outcome.refused == ("linking_risk",)
    assert not any("reviewed" in one for one in (*base.outcome.warned, *noisy.outcome.warned))


def test_variants_without_a_release_say_why_and_the_others_go_on(places: Locations) -> None:
    found = measured(policy(), places, "recoder=fixed", "k=601", "recoder=mondrian")
    assert [one.outcome is None for one in found] == [False, True, True, False]
    assert "must name every generalize column" in found[1].problem
    assert "k must be at most the number of records" in found[2].problem
    assert "--show-values" not in found[2].problem


@pytest.mark.parametrize("columns", [{}, {"height": {"role": "insensitive"}}])
def test_equal_risk_links_no_more_than_the_first_one(places: Locations, columns) -> None:
    bare = {"perturb": None, "suppress": {}} if columns else {}
    own = policy(columns=columns, **bare)
    base, cut, staircase = measured(own, places, "recoder=mondrian", "k=10", equal="risk")
    assert base.outcome is not None and base.k == 20
    for one in (cut, staircase):
        assert one.outcome is not None
        # nearly: of a policy with a confidence the gate takes a bound, tuning the ratio of two means
        assert one.outcome.linking <= base.outcome.linking * 1.05


@pytest.mark.parametrize("columns", [{}, {"height": {"role": "insensitive"}}])
def test_equal_loss_loses_no_more_than_the_first_one(places: Locations, columns) -> None:
    bare = {"perturb": None} if columns else {}
    grain = {"anonymize": {"k": 20, "loss": "granularity"}, "suppress": {}}  # no draw decides who is released
    own = policy(columns=columns, **grain, **bare)
    base, cut, other = measured(own, places, "recoder=mondrian", "loss=precision", equal="loss")
    plain = measured(own, places, "recoder=mondrian")[1]
    assert base.outcome is not None and cut.outcome is not None and plain.outcome is not None
    assert cut.outcome.loss <= base.outcome.loss + 1e-9
    assert cut.outcome.linking <= plain.outcome.linking
    assert cut.k is not None and plain.k is not None and cut.k >= plain.k
    assert other.outcome is None and "must be granularity for --equal-loss" in other.problem


def test_equal_loss_with_a_confidence_is_kept_on_average(places: Locations) -> None:
    """Which records are left out depends on the draw: the difference of two losses varies by 0.014 (σ)."""
    own = policy(anonymize={"k": 20, "loss": "granularity"})
    losses = []
    for _ in range(4):
        base, cut = measured(own, places, "recoder=mondrian", equal="loss")
        assert base.outcome is not None and cut.outcome is not None
        losses.append(cut.outcome.loss - base.outcome.loss)
    assert sum(losses) / len(losses) <= 0.035  # 5 σ


def test_equal_loss_is_refused_where_loss_is_measured_otherwise(places: Locations) -> None:
    with pytest.raises(InputError, match="must be granularity for --equal-loss, got precision"):
        measured(policy(anonymize={"k": 20, "loss": "precision"}), places, "recoder=mondrian", equal="loss")


def test_nothing_is_left_behind(places: Locations) -> None:
    before = sorted(path.name for path in places.sources.iterdir())
    measured(policy(), places, "recoder=mondrian", equal="risk")
    assert sorted(path.name for path in places.sources.iterdir()) == before


def test_a_variant_whose_path_leaves_the_project_or_whose_noise_cannot_be_drawn_is_listed(
    places: Locations, tmp_path: Path
) -> None:
    outside = ",".join(["columns.age.hierarchy={table: ../age.csv}"])
    found = measured(policy(), places, outside, "epsilon=1e300,confidence=none", "k=30")
    assert [one.outcome is None for one in found] == [False, True, True, False]
    assert "must stay" in found[1].problem


def test_a_variant_below_the_defaults_of_the_project_is_listed(places: Locations, tmp_path: Path) -> None:
    (tmp_path / "policy.defaults.yaml").write_text(DEFAULTS, encoding="utf-8")
    found = measured(policy(), replace(places, project=tmp_path), "k=10")
    assert found[0].outcome is not None and found[1].outcome is None
    assert "anonymize.k" in found[1].problem


def test_a_table_that_does_not_fit_the_policy_ends_the_comparison(places: Locations, tmp_path: Path) -> None:
    people().assign(age="CANARY").to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(InputError, match="age") as caught:
        measured(policy(), places, "k=10")
    assert "CANARY" not in str(caught.value)
