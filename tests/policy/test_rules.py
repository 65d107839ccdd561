"""Rules between sections, one by one, also where a section or a column did not parse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.recoders import PREFERENCES, RECODERS
from anon_pipeline.policy import Policy
from anon_pipeline.policy.columns import Generalize, Identifier, Insensitive, Perturb, Sensitive
from anon_pipeline.policy.hierarchies import Intervals, Suppress
from anon_pipeline.policy.recoding import CELLS, PREFERRING, Anonymize, LDiversity
from anon_pipeline.policy.rules import broken_rules
from anon_pipeline.policy.sections import (
    Budget,
    Deidentify,
    Gate,
    PerturbSection,
    Schedule,
    SuppressSection,
)
from anon_pipeline.policy.source import Source

QUASI = Generalize(role="generalize", hierarchy=Suppress(suppress=True))
NOISY = Perturb(role="perturb", resolution=1)
SECRET = Sensitive(role="sensitive")
HASHED = Identifier(role="identifier", action="hash")
SOUND: dict[str, Any] = {
    "source": Source(path="a.csv"),
    "columns": {"id": HASHED, "q": QUASI, "h": NOISY, "s": SECRET},
    "deidentify": Deidentify(key_env="K"),
    "perturb": PerturbSection(epsilon=1),
    "suppress": SuppressSection(confidence=0.9),
    "gate": Gate(
        t_closeness={"s": 0.1}, l_diversity={"s": LDiversity(l=2)}, linking_risk=0.1, confidence_k=2
    ),
    "schedule": None,
}
AGE = Generalize(role="generalize", hierarchy=Intervals(intervals=(5,)))
PAY = Sensitive(role="sensitive", distance="ordered")
NO_ORDERED = (
    "anonymize.recoder: tclose_first needs one sensitive column with distance: ordered and a limit in "
    "t_closeness, got 0. These fit: merge, kanon_first."
)
NO_NUMBER = (
    "anonymize.recoder: univariate needs one generalize column alone, with numbers, intervals, "
    "dates or order, got 0 such "
    "and 1 others. These fit: mdav, vmdav, k_member, one_pass, merge, kanon_first."
)
BARE: dict[str, Any] = {
    "perturb": None,
    "suppress": SuppressSection(),
    "gate": Gate(t_closeness={"s": 0.1}),
}


def test_a_sound_policy_breaks_none() -> None:
    assert broken_rules(SOUND) == []


NO_GENERALIZE = (
    "columns: at least one must have the role generalize, got none. It defines the equivalence classes."
)


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        ({"columns": {"s": SECRET, "h": NOISY}}, [NO_GENERALIZE]),
        (
            {"columns": {**SOUND["columns"], "_a": SECRET, "__b": SECRET}},
            ["columns: names must not begin with an underscore (reserved for private columns), got __b, _a"],
        ),
        ({"perturb": None}, ["perturb: must be given (with epsilon) for the columns h"]),
        (
            {"columns": {"q": QUASI, "s": SECRET}},
            [
                "perturb: must be left out when no column has the role perturb",
                "suppress.confidence: must be left out when no column has the role perturb",
                "gate.linking_risk: needs a column with the role perturb (without one, k limits linking)",
            ],
        ),
        (
            {"gate": Gate(t_closeness={"q": 0.1, "x": 0.2}, l_diversity={"h": LDiversity(l=2)})},
            [
                "gate.t_closeness: must name columns with the role sensitive, got q, x",
                "gate.l_diversity: must name columns with the role sensitive, got h",
            ],
        ),
        ({"suppress": SuppressSection()}, ["gate.confidence_k: needs suppress.confidence"]),
        ({"deidentify": None}, ["deidentify: must be given (key_env or key_file) for action: hash in id"]),
        (
            {"source": Source(path="{partition}.csv")},
            ["source.path: {partition} needs schedule.partitions"],
        ),
        (
            {"source": Source(path="{partition}.csv"), "schedule": Schedule(cron="0 3 * * 1")},
            ["source.path: {partition} needs schedule.partitions"],
        ),
        (
            {
                "source": Source(path="{partition}.csv"),
                "schedule": Schedule(cron="0 3 * * 1", partitions="daily"),
            },
            [],
        ),
        (
            {"anonymize": Anonymize(k=2, recoder="univariate")},
            [NO_NUMBER],
        ),
        ({"anonymize": Anonymize(k=2, recoder="univariate"), "columns": {"q": AGE, "s": PAY}, **BARE}, []),
        (
            {"anonymize": Anonymize(k=2, recoder="tclose_first")},
            [NO_ORDERED],
        ),
        ({"anonymize": Anonymize(k=2, recoder="tclose_first"), "columns": {"q": AGE, "s": PAY}, **BARE}, []),
        (
            {
                "anonymize": Anonymize(k=2, recoder="tclose_first", t_closeness={}),
                "columns": {"q": AGE, "s": PAY},
                **BARE,
            },
            [NO_ORDERED],
        ),
    ],
)
def test_rules(change: dict[str, Any], lines: list[str]) -> None:
    assert broken_rules({**SOUND, **change}) == lines


def test_what_did_not_parse_is_not_held_against_the_rest() -> None:
    """A column that is None may have been meant as any role; a section that is absent as anything."""
    assert broken_rules({}) == []
    assert broken_rules({**SOUND, "columns": {"s": None}}) == []
    assert broken_rules({**SOUND, "columns": {"q": QUASI, "h": None, "s": None}}) == []
    without_perturb = {name: part for name, part in SOUND.items() if name not in ("perturb", "deidentify")}
    assert broken_rules(without_perturb) == []


def test_insensitive_columns_cannot_be_limited() -> None:
    columns = {**SOUND["columns"], "s": Insensitive(role="insensitive")}
    assert broken_rules({**SOUND, "columns": columns}) == [
        "gate.t_closeness: must name columns with the role sensitive, got s",
        "gate.l_diversity: must name columns with the role sensitive, got s",
    ]


@pytest.mark.parametrize(
    ("noise", "budget", "found"),
    [
        (PerturbSection(epsilon=1), Budget(epsilon=1), []),
        (
            PerturbSection(epsilon=2),
            Budget(epsilon=1.5),
            ["budget.epsilon: must be at least perturb.epsilon, got 1.5 and 2. No release would fit."],
        ),
        (None, Budget(epsilon=1), ["budget: must be left out when no column has the role perturb"]),
        (None, None, []),
    ],
)
def test_a_budget_needs_noise_that_fits_into_it(
    noise: PerturbSection | None, budget: Budget | None, found: list[str]
) -> None:
    assert broken_rules({"perturb": noise, "budget": budget}) == found


def test_a_budget_without_noise_does_not_hide_that_the_noise_is_missing() -> None:
    columns = {"age": Generalize(role="generalize"), "height": Perturb(role="perturb", resolution=1)}
    found = broken_rules({"columns": columns, "perturb": None, "budget": Budget(epsilon=1)})
    assert [line for line in found if line.startswith(("budget", "perturb"))] == [
        "perturb: must be given (with epsilon) for the columns height"
    ]


def test_a_budget_is_not_judged_where_the_noise_did_not_parse() -> None:
    assert broken_rules({"budget": Budget(epsilon=1)}) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"record_key": "age", "deidentify": {"key_env": "K"}},
            "record_key: must name a column with the role identifier, got age",
        ),
        (
            {"record_key": "nobody", "deidentify": {"key_env": "K"}},
            "record_key: must name a column with the role identifier, got nobody",
        ),
        (
            {"record_key": "person"},
            "deidentify: must be given (key_env or key_file) for record_key",
        ),
        (
            {
                "perturb": {"republish": "sticky"},
                "columns": {"height": {"sensitivity": "declared", "input_bounds": [100, 250]}},
            },
            "perturb.republish: sticky needs record_key",
        ),
        ({"gate": {"cross_release_k": 3}}, "gate.cross_release_k: needs record_key"),
        (
            {
                "gate": {"cross_release_k": 4},
                "record_key": "person",
                "deidentify": {"key_env": "K"},
            },
            "gate.cross_release_k: must be at most the gate's k of 3, got 4",
        ),
    ],
)
def test_releases_are_composed_by_a_record_key(
    small_policy: Callable[..., Policy], changes: dict[str, object], message: str
) -> None:
    with pytest.raises(PolicyError) as raised:
        small_policy(**changes)
    assert raised.value.problems == (message,)


COUNTED = {"person": "person", "rows_per_person": 2, "deidentify": {"key_env": "K"}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"person": "age"}, "person: must name a column with the role identifier, got age"),
        ({"person": "nobody"}, "person: must name a column with the role identifier, got nobody"),
        (
            {"columns": {"person": {"action": "hash"}}},
            "person: must name a column that does not show which records are of one person, got person with "
            "action: hash. Set action: drop.",
        ),
        (
            {"record_key": "person"},
            "person: must be left out with record_key, by which each person has one record, so that records "
            "are people already",
        ),
        (
            {"one_record_per_person": True},
            "one_record_per_person: must not be set with person, which says who the people are",
        ),
        ({"deidentify": None}, "deidentify: must be given (key_env or key_file) for person"),
        (
            {"rows_per_person": None},
            "rows_per_person: must be given with person where there is noise, for example 3: the ε of a "
            "person is split over them",
        ),
        ({"person": None}, "rows_per_person: needs person"),
        *(
            (
                {"gate": {"attacks": attack}},
                f"gate.attacks.{name}: counts records one by one, and must be left out with person",
            )
            for name, attack in {
                "attacker_success": {"attacker_success": 0.1},
                "assignment_risk": {"assignment_risk": 0.1},
                "expected_linking_risk": {"expected_linking_risk": 0.1},
                "averaging": {"averaging": {"releases": 2, "risk": 0.1}},
                "linkage.exact": {"linkage": {"exact": 0.1}},
                "linkage.threshold": {"linkage": {"threshold": 0.1}},
                "linkage.probabilistic": {"linkage": {"probabilistic": 0.1}},
                "sample_uniques": {"sample_uniques": 0.1},
                "minimal_uniques": {"minimal_uniques": 0.1},
            }.items()
        ),
    ],
)
def test_people_are_counted_by_an_identifier_that_is_not_released(
    small_policy: Callable[..., Policy], changes: dict[str, object], message: str
) -> None:
    small_policy(**COUNTED)
    with pytest.raises(PolicyError) as raised:
        small_policy(**{**COUNTED, **changes})
    assert raised.value.problems == (message,)


@pytest.mark.parametrize("recoder", ["ola", "optimal"])
def test_recoders_that_need_levels_need_hierarchies(recoder: Any) -> None:
    bare = Generalize(role="generalize")
    columns = {"one": bare, "q": QUASI, "other": bare, "s": SECRET}
    sections = {"columns": columns, "anonymize": Anonymize(k=2, recoder=recoder)}
    assert broken_rules(sections) == [
        f"columns: a hierarchy must be given for one, other: the recoder {recoder} needs it. "
        "These recoders need none: mondrian, mondrian_relaxed, local, forest, mdav, vmdav, k_member, "
        "one_pass, merge, kanon_first, tclose_first."
    ]


@pytest.mark.parametrize("recoder", ["mondrian", "mondrian_relaxed"])
def test_recoders_that_cut_need_none(recoder: Any) -> None:
    columns = {"q": Generalize(role="generalize"), "s": SECRET}
    assert broken_rules({"columns": columns, "anonymize": Anonymize(k=2, recoder=recoder)}) == []


@pytest.mark.parametrize(
    ("anonymize", "message"),
    [
        (
            {"weights": {"illness": 2, "nobody": 1}},
            "anonymize.weights: must name columns with the role generalize, got illness, nobody",
        ),
        (
            {"weights": {"age": 2}, "loss": "discernibility"},
            "anonymize.weights: must be left out with loss: discernibility, which weighs no columns",
        ),
        (
            {"loss": "classification"},
            "anonymize.target: must be given with loss: classification, and only with it",
        ),
        (
            {"target": "illness"},
            "anonymize.target: must be given with loss: classification, and only with it",
        ),
        (
            {"loss": "classification", "target": "nobody"},
            "anonymize.target: must name a column that is released, got nobody",
        ),
        (
            {"loss": "classification", "target": "person"},
            "anonymize.target: must name a column that is released, got person",
        ),
    ],
)
def test_a_loss_needs_columns_that_fit(
    small_policy: Callable[..., Policy], anonymize: dict[str, object], message: str
) -> None:
    with pytest.raises(PolicyError) as raised:
        small_policy(anonymize=anonymize)
    assert raised.value.problems == (message,)


@pytest.mark.parametrize("recoder", ["optimal", "datafly", "mondrian", "mondrian_relaxed"])
def test_a_preference_needs_a_recoder_that_chooses(recoder: Any) -> None:
    changed = {**SOUND, "anonymize": Anonymize(k=2, recoder=recoder, prefer="least_suppression")}
    assert broken_rules(changed) == [
        "anonymize.prefer: needs a recoder that chooses between nodes (ola, incognito, samarati, mingen), "
        f"got {recoder}"
    ]


def test_fixed_levels_are_those_of_every_generalize_column() -> None:
    changed = {**SOUND, "anonymize": Anonymize(k=2, recoder="fixed")}
    assert broken_rules(changed) == ["anonymize.levels: must name every generalize column, got none for q"]
    changed = {**SOUND, "anonymize": Anonymize(k=2, recoder="fixed", levels={"q": 1, "s": 1})}
    assert [line.partition(":")[0] for line in broken_rules(changed)] == ["anonymize.levels"]


def test_cells_need_a_full_domain_recoder() -> None:
    changed = {**SOUND, "anonymize": Anonymize(k=2, recoder="mondrian", suppress="cells")}
    assert broken_rules(changed) == [
        "anonymize.suppress: cells needs a full-domain recoder (ola, optimal, incognito, samarati, datafly, "
        "mingen, fixed), got mondrian"
    ]


def test_the_policy_knows_the_recoders_and_what_fits_them() -> None:
    fields = Anonymize.model_fields
    assert get_args(fields["recoder"].annotation) == tuple(RECODERS)
    assert get_args(fields["prefer"].annotation) == PREFERENCES
    assert CELLS == ("ola", "optimal", "incognito", "samarati", "datafly", "mingen", "fixed")
    assert PREFERRING == ("ola", "incognito", "samarati", "mingen")
    for name in CELLS:
        levels = {"q": 1} if "levels" in RECODERS[name].options else None
        wanted = Anonymize(k=2, recoder=name, suppress="cells", levels=levels)
        assert broken_rules({**SOUND, "anonymize": wanted}) == []
    for name in PREFERRING:
        wanted = Anonymize(k=2, recoder=name, prefer="most_distinct_tuples")
        assert broken_rules({**SOUND, "anonymize": wanted}) == []


@pytest.mark.parametrize(
    ("source", "fits"),
    [
        (Source(path="people.csv"), False),
        (Source(generate="patients"), False),
        (Source(path="{partition}/people.csv"), True),
        (Source(path="a/../people-{partition}.csv"), True),
        (Source(path="{partition}/../people.csv"), False),  # one file for all
    ],
)
def test_a_budget_per_record_needs_a_file_for_each_partition(source: Source, fits: bool) -> None:
    sections = {"source": source, "perturb": PerturbSection(epsilon=1)}
    said = "budget.per: record needs {partition} in source.path"
    found = broken_rules({**sections, "budget": Budget(epsilon=1, per="record")})
    assert [line[: len(said)] for line in found] == ([] if fits else [said])
    assert broken_rules({**sections, "budget": Budget(epsilon=1)}) == []
    assert broken_rules({**sections, "source": None, "budget": Budget(epsilon=1, per="record")}) == []


@pytest.mark.parametrize("name", RECODERS)
def test_what_is_said_to_fit_in_a_recoders_place_fits(name: str) -> None:
    columns = {"q": QUASI, "r": QUASI, "s": SECRET}
    lines = broken_rules({**SOUND, "columns": columns, "anonymize": Anonymize(k=2, recoder=name), **BARE})
    (line,) = [one for one in lines if one.startswith("anonymize.recoder")] or [""]
    for other in line.partition("These fit: ")[2].removesuffix(".").split(", ") if line else ():
        wanted = Anonymize(k=2, recoder=other)
        again = broken_rules({**SOUND, "columns": columns, "anonymize": wanted, **BARE})
        assert [one for one in again if one.startswith("anonymize.recoder")] == []
        assert RECODERS[other].family == RECODERS[name].family
        assert RECODERS[other].keeps_limits >= RECODERS[name].keeps_limits
