"""What is read of each manifest, and which release is worst for each limit."""

from __future__ import annotations

from typing import Any

import pytest

from anon_pipeline.report.collection_figures import NOT_PUBLISHED, collection_figures


def verdict(limit: str, value: float | None, **changes: Any) -> dict[str, Any]:
    given = {"status": "passed", "bound": 0.5, "sense": "at most", "reason": None}
    return {"limit": limit, "value": value, **given, **changes}


def manifest(*verdicts: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "manifest_version": 2,
        "release": "x",
        "partition": "a.1",
        "made_at": "2026-01-02T03:04:05+00:00",
        "files": [{"records": 70}, {"records": 20}],
        "gate": {"verdicts": [*verdicts], "data_digest": "d", "policy_digest": "p"},
        "epsilon": 2.0,
        "guarantee": ["Left out: name."],
        "facts": {
            "raw": {"records": 100},
            "deidentified": {"people": None},
            "suppressed": {"released_people": None},
        },
        "report": {"name": "x report.html"},
        **changes,
    }


def test_the_figures_of_a_release() -> None:
    smallest = verdict("k", 7.0, bound=3.0, sense="at least")
    linking = verdict("linking_risk", None, bound=0.2)
    held = verdict("contract", None, bound=None, sense="holds")
    warned = verdict("rare_texts.note", 0.2, bound=0.1, status="warned")
    [part] = collection_figures([("f:1", manifest(smallest, linking, held, warned))]).parts
    assert (part.folder, part.key, part.kind) == ("f:1", "a.1", "")
    assert (part.records, part.released, part.people) == (100, 90, None)
    assert part.left_out == pytest.approx(0.1)
    assert (part.smallest, part.k, part.linking, part.epsilon) == (7, 3, "at most 0.2", 2)
    assert (part.passed, part.warned) == (3, 1)
    assert part.link == "./f%3A1/x%20report.html"  # neither a scheme nor a folder above


def test_people_are_counted_where_the_manifest_has_them() -> None:
    facts = {"raw": {"records": 9}, "deidentified": {"people": 5}, "suppressed": {"released_people": 4}}
    [part] = collection_figures([("f", manifest(facts=facts))]).parts
    assert part.people == (5, 4)


def test_another_kind_of_release() -> None:
    document = manifest(verdict("copied", 0.1), kind="synthetic", records=50, partition=None, report=None)
    found = collection_figures([("f", document)])
    [part] = found.parts
    assert (part.kind, part.key, part.records, part.released) == ("a synthetic release", "x", 50, None)
    assert (part.left_out, part.link, part.linking) == (None, "", "–")
    assert (found.limits["copied"].value, found.limits["copied"].meaning) == ("0.1", "")


def test_the_worst_is_the_largest_value_or_the_smallest_where_at_least_is_demanded() -> None:
    values = {"f": (9.0, 0.01), "g": (3.0, 0.02), "h": (5.0, 0.02)}
    found = collection_figures(
        (
            name,
            manifest(
                verdict("k", k, bound=2.0, sense="at least"), verdict("suppression", share, status="passed")
            ),
        )
        for name, (k, share) in values.items()
    )
    k, share = found.limits["k"], found.limits["suppression"]
    assert (k.value, k.folder, k.bound, k.parts, k.warned) == ("3", "g", "at least 2", 3, 0)
    assert (share.value, share.folder) == ("0.02", "g")  # of equal ones the first
    assert "missing from the release" in share.meaning


def test_bands_have_an_order_and_unpublished_values_no_release() -> None:
    found = collection_figures(
        (
            name,
            manifest(
                verdict("known_columns.note", None, band=band), verdict("utility_information_loss", None)
            ),
        )
        for name, band in (("f", "0.05 to 0.1"), ("g", "0.2 to 0.5"), ("h", "0 to 0.05"))
    )
    band, loss = found.limits["known_columns.note"], found.limits["utility_information_loss"]
    assert (band.value, band.folder) == ("0.2 to 0.5", "g")
    assert (loss.value, loss.folder, loss.parts) == (NOT_PUBLISHED, "", 3)


def test_values_that_only_an_old_manifest_published_are_not_shown() -> None:
    found = collection_figures([("f", manifest(verdict("linking_risk", 0.123)))])
    assert found.limits["linking_risk"].value == NOT_PUBLISHED
    assert found.parts[0].linking == "at most 0.5"


def test_warnings_are_counted_with_an_example_and_what_only_holds_has_no_number() -> None:
    review = verdict("accepted.reviewed", None, bound=None, sense="holds", status="warned")
    kept = review | {"status": "passed"}
    exceeded = verdict("linking_risk", None, status="warned")
    found = collection_figures(
        [("f", manifest(kept)), ("g", manifest(review, exceeded)), ("h", manifest(review))]
    )
    row = found.limits["accepted.reviewed"]
    assert (row.parts, row.warned, row.example, row.has_bound, row.of_policy) == (3, 2, "g", False, True)
    assert found.parts[1].linking == "at most 0.5 (exceeded)"
    assert not found.limits["linking_risk"].of_policy
    assert (row.exceeded, found.limits["linking_risk"].exceeded) == ("2 of 3", "1 of 1")


def test_a_bound_that_every_value_passes_is_not_said_to_be_exceeded_in_none() -> None:
    free = verdict("known_columns.note", None, bound=1.0, band="0.2 to 0.5")
    row = collection_figures([("f", manifest(free))]).limits["known_columns.note"]
    assert (row.bound, row.exceeded) == ("no limit", "–")
    beyond = verdict("known_columns.note", None, bound=0.2, status="warned")
    free = verdict("known_columns.note", None, bound=1.0)
    row = collection_figures([("f", manifest(beyond)), ("g", manifest(free))]).limits["known_columns.note"]
    assert (row.bound, row.differs, row.exceeded) == ("no limit", True, "1 of 2")


def test_of_bounds_that_differ_the_one_of_the_value_is_shown_else_the_loosest() -> None:
    found = collection_figures(
        (
            name,
            manifest(
                verdict("suppression", value, bound=bound),
                verdict("linking_risk", None, bound=bound),
                verdict("utility_released", None, bound=1 - bound, sense="at least"),
                verdict("known_columns.note", None, band="0 to 0.05"),
            ),
        )
        for name, value, bound in (("f", 0.1, 0.2), ("g", 0.05, 0.5), ("h", 0.01, 0.3))
    )
    bounds = {name: (row.bound, row.differs) for name, row in found.limits.items()}
    assert bounds == {
        "suppression": ("at most 0.2", True),
        "linking_risk": ("at most 0.5", True),
        "utility_released": ("at least 0.5", True),
        "known_columns.note": ("at most 0.5", False),
    }
