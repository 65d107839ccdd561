"""The attacks that a report names: the public one has bounds where the internal one has numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from anon_pipeline.base.shares import percent
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.measures import linking_risk
from anon_pipeline.gate import GateReport, Status, Verdict, evaluate
from anon_pipeline.limits.table import LIMITS
from anon_pipeline.limits.verdicts import top_of_band
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.whole_chain import make_release
from anon_pipeline.report import internal_report, public_report
from anon_pipeline.report.attacks import attacks, is_limited, largest
from anon_pipeline.report.columns import SizeBin
from anon_pipeline.report.linking_sentences import linked_sentence
from anon_pipeline.report.manifest_data import Exact

Small = Callable[..., Policy]
SIZES = [SizeBin("5 to 9", 30, 200, 0.2, 0.2597), SizeBin("10 to 19", 10, 150, 0.1, 0.08)]


def report_of(*verdicts: Verdict) -> GateReport:
    return GateReport(verdicts, "d", "p")


def judged(value: float | None = 0.0312, bound: float = 0.05, realized: float | None = None) -> GateReport:
    return report_of(Verdict("linking_risk", Status.PASSED, value, bound, "at most", None, realized))


def test_the_public_has_the_bound_and_the_curator_the_value(small_policy: Small) -> None:
    found = list(attacks(small_policy(), judged(), SIZES, internal=False))
    assert found[0].how.endswith("20 %, for records of the smallest classes (5 to 9 records)")
    assert [(one.share, one.most, one.limit) for one in found] == [
        (0.2, True, None),
        (0.05, True, "linking_risk"),
    ]
    assert found[1].right == 17  # of 350, on average
    exact = list(attacks(small_policy(), judged(realized=0.04), SIZES, internal=True))
    # the mean, which was judged; what was drawn stands by classes
    assert [one.share for one in exact] == [0.2, 0.0312, 0.2597, 0.08]
    assert exact[1].how == "measured: the mean over the noise, on the originals"


def test_the_largest_is_over_all_attacks_with_its_error(small_policy: Small) -> None:
    """The issue's number: 0.2000 by the class alone, 0.2597 with the noisy columns."""
    most = largest(list(attacks(small_policy(), judged(), SIZES, internal=True)))
    assert most.share == 0.2597
    assert "standard error 3.1 %" in most.how
    few = [SizeBin("5", 2, 10, 0.2, 0.3)]
    assert "too few records" in largest(list(attacks(small_policy(), judged(), few, internal=True))).how


def test_a_value_of_the_file_alone_is_public(small_policy: Small) -> None:
    gate = report_of(Verdict("marketer_risk", Status.PASSED, 0.11, 0.3, "at most"))
    found = list(attacks(small_policy(), gate, SIZES, internal=False))
    assert (found[1].share, found[1].most) == (0.11, False)


@pytest.mark.parametrize(("bound", "limited"), [(0.05, True), (1.0, False)])
def test_a_bound_of_everything_limits_nothing(small_policy: Small, bound: float, limited: bool) -> None:
    """It stands among the attacks all the same: else the largest risk was that of the classes."""
    gate = judged(value=None, bound=bound)
    assert is_limited(small_policy(), gate) is limited
    by_class, linked = attacks(small_policy(), gate, SIZES, internal=False)
    assert linked.is_limited is limited
    assert largest([by_class, linked]) is (by_class if limited else linked)
    assert linked.risk == ("at most 5 %" if limited else "no limit")


def test_noise_that_no_limit_is_on_is_not_limited(small_policy: Small) -> None:
    """As in a manifest of version 1, whose gate had no limit on linking where the policy had none."""
    gate = report_of(Verdict("marketer_risk", Status.PASSED, 0.11, 0.3, "at most"))
    most = largest(list(attacks(small_policy(), gate, SIZES, internal=False)))
    assert (most.risk, most.limit) == ("no limit", None)
    assert largest(list(attacks(small_policy(), gate, SIZES, internal=True))).share == 0.2597


def test_a_second_attacker_without_a_limit_is_not_hidden_by_the_first(small_policy: Small) -> None:
    gate = report_of(
        Verdict("linking_risk", Status.PASSED, None, 0.05, "at most"),
        Verdict("assignment_risk", Status.PASSED, None, 1.0, "at most"),
    )
    found = list(attacks(small_policy(), gate, SIZES, internal=False))
    assert largest(found).limit == "assignment_risk"
    said = linked_sentence(small_policy(), gate, found)
    assert "picks the right record for at most 17 of 350 records on average (linking_risk" in said
    assert said.endswith("No limit is set on the attack assignment_risk, which may get more right.")


def test_the_page_does_not_take_the_class_for_the_largest_risk(
    small_policy: Small, small_people: Callable[..., Any], tmp_path: Any
) -> None:
    """One noisy column, a bound of 1, nothing else released: no band speaks for the noise either."""
    policy = small_policy(
        columns={name: {"role": "identifier", "distance": None} for name in ("income", "illness", "note")},
        gate={"linking_risk": 1.0},
    )
    small_people(n=300).to_csv(tmp_path / "people.csv", index=False)
    page = make_release(policy, Locations.of(tmp_path, {})).report_path.read_text()
    largest_risk = page.partition("<strong>Largest risk")[2].partition("</p>")[0]
    assert "limited: no limit</strong>" in largest_risk
    assert "the exact values before noise" in largest_risk


def test_every_limit_on_an_attack_on_records_says_what_its_attacker_knows() -> None:
    known = [limit.name for limit in LIMITS if limit.words.knows]
    assert "linking_risk" in known
    assert all(limit.words.question for limit in LIMITS if limit.words.knows)
    without = [limit.name for limit in LIMITS if limit.attack and limit.words.question is None]
    assert without == []


def test_both_reports_state_the_largest_risk(made: Any) -> None:
    chain = made.chain
    page = public_report(made.policy, made.document, made.frame).decode()
    smallest = made.frame.groupby(["age", "city"]).size().min()
    bands = [v["band"] for v in made.document["gate"]["verdicts"] if "band" in v]
    assert bands
    most = max(1 / smallest, *map(top_of_band, bands))
    said = f"at most {percent(most)}" if most < 1 else "50 % or more, no limit"
    assert f"limited: {said}</strong>" in page
    released, originals = chain.suppressed.frame, chain.k_anonymized.frame
    gate = evaluate(released, made.policy, chain.suppressed.facts, originals=originals)
    exact = Exact(chain.suppressed.facts, gate)
    private = internal_report(made.policy, made.document, released, originals, exact=exact)
    evidence = evidence_from(chain.suppressed.frame, made.policy, originals=chain.k_anonymized.frame)
    whole = linking_risk(evidence, made.policy).risk
    assert f">{percent(whole)}<" in private.decode()


def test_the_public_attacks_do_not_change_with_the_originals(small_policy: Small) -> None:
    bare = [SizeBin(row.label, row.classes, row.records, row.risk) for row in SIZES]
    one, other = (list(attacks(small_policy(), judged(v), bare, internal=False)) for v in (0.01, 0.049))
    assert one == other


def test_of_a_warning_the_band_is_the_most_and_not_the_bound() -> None:
    known = "known_columns.job + age"
    beyond = Verdict(known, Status.WARNED, None, 0.2, "at most", band="0.2 to 0.5")
    within = Verdict("known_columns.job", Status.PASSED, None, 1.0, "at most", band="0.05 to 0.1")
    unsaid = Verdict(known, Status.WARNED, None, 0.2, "at most")
    policy: Any = type("Named", (), {"generalized": ["city"], "perturbed": [], "noisy": []})()
    _, *found = attacks(policy, report_of(within, beyond, unsaid), SIZES, internal=False)
    assert [(one.share, one.most) for one in found] == [(0.1, True), (0.5, True), (1.0, True)]
    assert [one.risk for one in found] == [
        "at most 10 %",
        "at most 50 % (advised: at most 20 %)",
        "not limited (advised: at most 20 %)",
    ]
    exceeded = "; the advised bound of 20 % is exceeded"
    assert found[1].success == f"picks the right record for at most 175 of 350 records{exceeded}"
    assert found[2].success == f"picks the right record for any share of the records{exceeded}"
    assert "more than is advised" in found[2].how and "no limit" not in found[2].how
    assert found[0].knows.endswith("and job")
    _, exact = attacks(policy, report_of(within), SIZES, internal=True)
    assert exact.share == 0.1


def test_people_are_counted_where_they_are_known(small_policy: Small) -> None:
    by_class, linked = attacks(small_policy(), judged(), SIZES, internal=False, people=90)
    assert (by_class.many, linked.many) == ("–", "at most 4 of 90 people")
    sizes = [replace(row, people=40) for row in SIZES]
    found = list(attacks(small_policy(), judged(realized=0.04), sizes, internal=True, people=90))
    assert [one.many for one in found] == [
        "at most 8 of 40 people",
        "about 3 of 90 people",
        "about 10 of 40 people",
        "about 3 of 40 people",
    ]


def test_without_a_limit_the_band_says_how_many_at_least() -> None:
    verdict = Verdict("known_columns.job", Status.PASSED, None, 1.0, "at most", band="0.5 or more")
    policy: Any = type("Named", (), {"generalized": ["city"], "perturbed": [], "noisy": []})()
    _, found = attacks(policy, report_of(verdict), SIZES, internal=False)
    assert found.risk == "50 % or more, no limit"
    assert found.many == "175 or more of 350 records"
    assert found.success == "picks the right record for 50 % of the records or more; no limit holds"
    warned = replace(verdict, status=Status.WARNED, bound=0.2)
    _, beyond = attacks(policy, report_of(warned), SIZES, internal=False)
    assert (beyond.risk, beyond.portion) == (
        "50 % or more (advised: at most 20 %)",
        "50 % of the records or more",
    )


def test_a_band_within_a_smaller_bound_gives_way_to_it() -> None:
    verdict = Verdict("known_columns.job", Status.PASSED, None, 0.15, "at most", band="0.1 to 0.2")
    policy: Any = type("Named", (), {"generalized": ["city"], "perturbed": [], "noisy": []})()
    _, found = attacks(policy, report_of(verdict), SIZES, internal=False)
    assert (found.share, found.how) == (0.15, "limited by known_columns.job")


def test_shares_of_people_are_counted_in_people(small_policy: Small) -> None:
    """Of limits that count people; and by size of class, of the people whose records these are."""
    known = Verdict("known_columns.note", Status.PASSED, None, 1.0, "at most", band="0.1 to 0.2")
    gate = report_of(Verdict("linking_risk", Status.PASSED, None, 0.05, "at most"), known)
    found = list(attacks(small_policy(), gate, SIZES, internal=False, people=100))
    assert [(one.right, one.among, one.noun) for one in found] == [
        (0, None, "people"),  # by the class alone: nobody counted the people of the smallest classes
        (5, 100, "people"),
        (20, 100, "people"),
    ]
    sized = [SizeBin("5 to 9", 30, 200, 0.2, 0.25, 80)]
    exact = list(attacks(small_policy(), judged(), sized, internal=True, people=100))[-1]
    assert (exact.right, exact.among, exact.noun) == (20, 80, "people")
    assert "too few records" in exact.how
    assert {one.noun for one in attacks(small_policy(), gate, SIZES, internal=False)} == {"records"}


@pytest.mark.parametrize("noisy", [[], ["height"]])
def test_a_release_without_noise_does_not_speak_of_it(noisy: list[str]) -> None:
    verdict = Verdict("known_columns.job", Status.PASSED, None, 0.2, "at most", band="0.05 to 0.1")
    policy: Any = type("Named", (), {"generalized": ["city"], "perturbed": [], "noisy": noisy})()
    _, known = attacks(policy, report_of(verdict), SIZES, internal=False)
    assert ("noise" in known.knows) is bool(noisy)
    assert known.knows.endswith("and job")
