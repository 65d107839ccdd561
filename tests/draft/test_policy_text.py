"""The written policy: it loads as what was tuned, every column has its reason, and no value stands in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.draft.attributes import Place, attributes_of
from anon_pipeline.draft.choice import Fitted, fit
from anon_pipeline.draft.policy_text import policy_text
from anon_pipeline.draft.profile.layout import Layout
from anon_pipeline.draft.profile.profile_table import Profile, profile_table
from anon_pipeline.draft.profile.proposals import drop_instead
from anon_pipeline.draft.profile.questions import NOISE_LEFT_OUT
from anon_pipeline.policy.load import parse_policy, policy_from

PLACE = Place("people", "data/people.csv")
N = 400
CANARY = "CANARY-7f3a"


@pytest.fixture(scope="module")
def made() -> tuple[Profile, Fitted, str]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "name": [f"{CANARY} {i}" for i in range(N)],
            "sex": rng.choice([f"{CANARY} f", f"{CANARY} m"], N),
            "town: old": rng.choice([f"{CANARY}-{x}" for x in "abcdefghij"], N),
            "yes": rng.choice(["7771", "7772", "-"], N),
            "diagnosis": rng.choice([f"{CANARY} flu", f"{CANARY} cold"], N),
        }
    )
    found = profile_table(frame, layout=Layout("csv", ";", "cp1252", 1.0, True))
    fitted = fit(found, frame, PLACE)
    return found, fitted, policy_text(found, fitted, PLACE)


def test_it_loads_as_the_policy_that_was_tuned(made: tuple[Profile, Fitted, str]) -> None:
    _, fitted, text = made
    policy = parse_policy(text)
    assert policy.digest == fitted.policy.digest
    assert list(policy.columns) == ["name", "sex", "town: old", "yes", "diagnosis"]
    assert policy.acknowledged == ()


def test_each_column_and_section_has_its_reason_and_each_question_stands_there(
    made: tuple[Profile, Fitted, str],
) -> None:
    _, fitted, text = made
    lines = text.splitlines()
    for proposal in fitted.proposals:
        assert proposal.reason.split(";")[0] in " ".join(line.strip(" #") for line in lines)
    for section in ("source", "clean", "columns", "anonymize", "gate"):
        place = next(i for i, line in enumerate(lines) if line.startswith(f"  {section}:"))
        assert lines[place - 1].startswith("  # ")
    questions = [line for line in lines if line.strip().startswith("# QUESTION: ")]
    assert len(questions) >= sum(proposal.question is not None for proposal in fitted.proposals) + 1


def test_it_says_what_the_dataset_is_for(made: tuple[Profile, Fitted, str]) -> None:
    text = made[2]
    assert "\n  # dataset: people\n" in text
    named = parse_policy(text.replace("  # dataset: people", "  dataset: customers"))
    assert (parse_policy(text).dataset, named.dataset) == (None, "customers")


def test_a_mask_says_what_its_numbers_hide() -> None:
    rng = np.random.default_rng(0)
    zips = pd.Series(rng.integers(10_000, 99_999, 60)).astype(str)
    frame = pd.DataFrame({"zip": rng.choice(zips, N), "sex": rng.choice(["f", "m"], N)})
    found = profile_table(frame, layout=Layout("csv", ",", "utf-8", 1.0, False))
    fitted = fit(found, frame, PLACE)
    lines = policy_text(found, fitted, PLACE).splitlines()
    written = "    zip: {role: generalize, hierarchy: {mask: [2, 3, 4]}}  # hides the last 2, 3, 4 characters"
    assert written in lines


def test_an_epsilon_at_which_a_column_is_useless_is_not_said_to_be_useful(
    made: tuple[Profile, Fitted, str],
) -> None:
    found, fitted, text = made
    assert "worth releasing" not in text
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], N), "height": rng.normal(170, 10, N).round()})
    found = profile_table(frame, layout=Layout("csv", ",", "utf-8", 1.0, False))
    fitted = fit(found, frame, PLACE)
    plain, drowned = (
        " ".join(line.strip(" #") for line in policy_text(found, one, PLACE).splitlines())
        for one in (
            replace(fitted, useful=True, drowned=()),
            replace(fitted, useful=True, drowned=("height",)),
        )
    )
    assert "keeps the limits and leaves a useful release (docs" in plain
    assert "keeps the limits; even so next to nothing is left of height (docs" in drowned
    assert "QUESTION: is what is left of height worth releasing?" in drowned
    assert f"k = {fitted.chosen.k}: classes of at least {fitted.chosen.k} records" in plain
    assert "and no ε above that of this policy" in plain


def test_no_value_stands_in_it(made: tuple[Profile, Fitted, str]) -> None:
    text = made[2]
    assert CANARY not in text
    assert "777" not in text


def test_lines_are_no_longer_than_a_screen(made: tuple[Profile, Fitted, str]) -> None:
    assert max(map(len, made[2].splitlines())) <= 112


def test_it_says_why_a_larger_k_was_not_taken(made: tuple[Profile, Fitted, str]) -> None:
    profile, fitted, _ = made
    for ks, telling in (((5, 10, 25), False), ((2, 3, 5), True), ((2, 3, 5), False)):
        text = " ".join(
            line.strip(" #")
            for line in policy_text(
                profile, replace(fitted, compared=ks, telling=telling), PLACE
            ).splitlines()
        )
        assert f"of {ks[0]}, {ks[1]} and {ks[2]}, the largest one that keeps the limits" in text
        passed_over = telling or fitted.chosen.k < max(ks)  # a larger one refused, or hiding more columns
        assert ("and leaves one value in the fewest columns" in text) == passed_over
        assert "no ε above" not in text  # without noise there is none


def test_a_column_with_noise_that_is_left_out_says_how_it_is_put_back() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], N),
            "height": [f"{x:.1f}".replace(".", ",") for x in rng.normal(170, 9, N)],
        }
    )
    found = profile_table(frame, layout=Layout("csv", ";", "utf-8", 1.0, False))
    fitted = fit(found, frame, PLACE)
    assert fitted.policy.gate.linking_risk is not None
    proposals = tuple(
        drop_instead(one, "refused", NOISE_LEFT_OUT) if one.name == "height" else one
        for one in found.proposals
    )
    left = replace(
        fitted,
        proposals=proposals,
        policy=policy_from(attributes_of(found, proposals, PLACE, fitted.chosen)),
        rehearsal=None,
        drowned=(),
    )
    assert left.policy.gate.linking_risk is None
    text = " ".join(line.strip(" #") for line in policy_text(found, left, PLACE).splitlines())
    assert "left out. If yes, leave out another column" in text and "coarser hierarchy" not in text
    assert "under clean.columns height: {type: number, decimal: ','}" in text
    assert f"height: {{role: perturb, resolution: {fitted.policy.perturbed['height'].resolution:g}}}" in text
    assert f"perturb: {{epsilon: {fitted.chosen.epsilon:g}}}, suppress: {{confidence: 0.9}}" in text
    assert f"under gate linking_risk: 0.1, confidence_k: {fitted.chosen.k}" in text
