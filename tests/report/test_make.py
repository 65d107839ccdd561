"""The two reports: what they show, what they never show, what they refuse to be made of."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

from anon_pipeline.base.shares import percent_at_most
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.encode.codes import CLASS
from anon_pipeline.gate import evaluate
from anon_pipeline.limits.accepted_risks import accepted_risks
from anon_pipeline.limits.table import demands
from anon_pipeline.policy import Policy
from anon_pipeline.report import internal_report, public_report
from anon_pipeline.report.columns import class_sizes, correlations, distributions
from anon_pipeline.report.manifest_data import Exact

Making = Callable[..., Any]
Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


class Tables(HTMLParser):
    """Reads the tables of a page: caption → rows of texts, headers included."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] = []
        self._text: str | None = None

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "table":
            self._rows = []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th", "caption"):
            self._text = ""

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "caption":
            self.found[self._text or ""] = self._rows
        elif tag in ("td", "th"):
            self._rows[-1].append(self._text or "")
        if tag in ("td", "th", "caption"):
            self._text = None


def tables(page: bytes) -> dict[str, list[list[str]]]:
    parser = Tables()
    parser.feed(page.decode())
    return parser.found


def public(made: Any, **changes: Any) -> bytes:
    return public_report(made.policy, {**made.document, **changes}, made.frame)


def internal(made: Any, **changes: Any) -> bytes:
    chain = made.chain
    return internal_report(
        made.policy, {**made.document, **changes}, chain.suppressed.frame, chain.k_anonymized.frame
    )


BOTH = pytest.mark.parametrize("report", [public, internal], ids=["public", "internal"])


@BOTH
def test_what_the_policy_accepts_stands_at_the_top(made: Any, report: Callable[..., bytes]) -> None:
    top, said = report(made).decode().partition("<nav")[0], accepted_risks(made.policy)
    assert "gate.linking_risk" in said
    assert "Passed with warnings" in top
    assert all(escape(f"{text} (") in top.replace(' <span class="note">', " ") for text in said.values())
    beyond = top.partition("Limits that only warn were exceeded:")[2].partition("</p>")[0]
    assert beyond
    assert "accepted." not in beyond


@BOTH
def test_a_report_says_verdicts_guarantee_suppression_digests(
    made: Any, report: Callable[..., bytes]
) -> None:
    page = report(made)
    found, text = tables(page), page.decode()
    limits = found["What the gate has measured against the policy's limits"][1:]
    assert [row[0] for row in limits] == [v["limit"] for v in made.document["gate"]["verdicts"]]
    marks = {"passed": "✓ passed", "warned": "⚠ warned"}
    judged = [(row[4], v) for row, v in zip(limits, made.document["gate"]["verdicts"], strict=True)]
    free = [v["limit"] for mark, v in judged if mark == "measured only"]
    assert "linking_risk" in free and "k" not in free
    assert all(mark == marks[v["status"]] for mark, v in judged if v["limit"] not in free)
    assert all((row[3] == "no limit") == (row[0] in free) for row in limits)
    bands = [v["band"] for v in made.document["gate"]["verdicts"] if v["limit"].startswith("known_columns")]
    assert [row[2] for row in limits if row[0].startswith("known_columns")] == bands
    for line in made.document["guarantee"]:
        assert line in text
    facts = made.document["facts"]["suppressed"]
    assert f"not in the release: {facts['suppressed_in_all']:,}. The reasons are not published" in text
    assert not any(name.startswith("Records that are not in the release") for name in found)
    assert {row[1] for row in found["Digests (SHA-256)"][1:]} >= {
        made.policy.digest,
        made.document["data_digest"],
        made.document["files"][0]["sha256"],
    }
    assert f"{made.document['packages']['numpy']}" in text


def share_of(text: str) -> float:
    """Return the share that a cell says in per cent."""
    assert text.endswith(" %")
    return round(float(text.removesuffix(" %")) / 100, 6)


def test_the_page_shows_the_class_sizes_and_risks_of_the_release(made: Any) -> None:
    rows = tables(public(made))["Classes by their size: the pictures in numbers"][1:]
    sizes = made.frame.groupby(["age", "city"]).size()
    assert sum(int(row[1]) for row in rows) == len(sizes)
    assert sum(int(row[2]) for row in rows) == len(made.frame)
    assert max(share_of(row[3]) for row in rows) == round(1 / sizes.min(), 4)
    linked = [
        (int(row[2]), share_of(row[4]))
        for row in tables(internal(made))["Classes by their size: the pictures in numbers"][1:]
    ]
    mean = sum(n * risk for n, risk in linked) / len(made.frame)
    assert mean == pytest.approx(made.exact["linking_risk"], abs=1e-4)


def test_where_people_are_not_known_the_chance_by_the_class_is_said_once(
    small_policy: Small, small_people: People, making: Making
) -> None:
    people = small_people()
    people["person"] = [f"P{row // 2}" for row in people.index]
    policy = small_policy(
        person="person",
        rows_per_person=1,
        deidentify={"key_env": "KEY"},
        gate={"linking_risk": 1.0, "suppression": 1.0},
    )
    page = public(making(policy, people, key=b"sixteen bytes or more"))
    head, *rows = tables(page)["Classes by their size: the pictures in numbers"]
    assert len(rows) > 1
    assert head == ["records of a class", "classes", "records"]
    said = f"The chance by the class alone is at most {percent_at_most(1 / 3, 4)} in classes of every size."
    assert page.decode().count(said) == 1
    assert "Largest chance by the class alone" not in page.decode()
    suppressed = tables(page)["Records that are not in the release"]
    assert [row[0] for row in suppressed[1:]] == [
        "suppressed, in all",
        "beyond 1 per person (rows_per_person)",
        "not in the release",
    ]
    assert "Why records were suppressed is not published" in page.decode()


@BOTH
def test_no_bin_has_fewer_than_k_records(
    small_policy: Small, small_people: People, making: Making, report: Callable[..., bytes]
) -> None:
    people = small_people()
    people.loc[:4, "illness"] = ["rare", "rare", "rarer", "rarest", "seldom"]
    people.loc[0, "income"] = 10**9
    made = making(small_policy(anonymize={"k": 7}, gate={"k": 7}), people)
    found = tables(report(made))
    counted = {
        name: rows
        for name, rows in found.items()
        if re.match(r"(age|city|height|income|illness|note): ", name)
    }
    assert len(counted) == 6
    for rows in counted.values():
        counts = np.array([[int(cell.replace(",", "")) for cell in row[1:]] for row in rows[1:]])
        assert counts.min() >= 7
        assert counts[:, -1].sum() == len(made.frame)
    sizes = found["Classes by their size: the pictures in numbers"][1:]
    assert min(int(row[2]) for row in sizes) >= 7


@BOTH
def test_no_cell_is_shown_but_released_generalized_values(
    small_policy: Small, small_people: People, making: Making, report: Callable[..., bytes]
) -> None:
    people = small_people()
    people["person"] = [f"CANARY-person-{i}" for i in range(len(people))]
    people["illness"] = "CANARY-illness-" + people["illness"]
    people["note"] = "CANARY-note-" + people["note"]
    people["income"] = people["income"] + 7
    people["height"] = people["height"] + 0.375
    people.loc[0, "age"] = 7919
    made = making(small_policy(columns={"height": {"resolution": 0.125}}), people)
    text = report(made).decode()
    assert "CANARY" not in text
    assert "7919" not in text
    for name in ("income", "height"):
        cells = {f"{value:g}" for value in people[name]} | {f"{value:,g}" for value in people[name]}
        assert not [cell for cell in cells if re.search(rf"(?<![\d.,]){re.escape(cell)}(?![\d.,])", text)]
    for value in made.frame["city"].unique():
        assert value in text


def test_words_of_the_policy_may_name_sensitive_values(
    small_policy: Small, small_people: People, making: Making
) -> None:
    order = ["none", "flu", "asthma", "gout"]
    policy = small_policy(columns={"illness": {"distance": "ordered", "order": order}})
    rows = tables(public(making(policy, small_people())))["illness: records"][1:]
    assert {row[0] for row in rows} == set(order)


def test_large_numbers_near_each_other_keep_their_correlation(small_policy: Small) -> None:
    rng = np.random.default_rng(0)
    near = pd.DataFrame(rng.integers(0, 5, size=(12, 2)).astype(float), columns=["height", "income"])
    (small,) = correlations(small_policy(), [near])
    (large,) = correlations(small_policy(), [near + np.array([2.0**51, 0.0])])
    assert large.values[0] == pytest.approx(small.values[0], abs=1e-12)


def test_the_public_report_needs_no_original(made: Any) -> None:
    """It is the same whatever the private tables are: it is not given them."""
    before = public(made)
    made.chain.k_anonymized.frame["height"] = 0.0
    assert public(made) == before


def test_the_public_report_is_verified_without_a_policy_that_its_readers_lack(made: Any) -> None:
    commands = [report(made).decode().partition('id="reproduce"')[2] for report in (public, internal)]
    assert ["verify RELEASE --policy POLICY.yaml" in said for said in commands] == [False, True]
    assert ["verify RELEASE</code>" in said for said in commands] == [True, False]


@BOTH
def test_advised_bounds_are_said_to_be_advised(made: Any, report: Callable[..., bytes]) -> None:
    page = report(made)
    rows = tables(page)["What the gate has measured against the policy's limits"]
    assert rows[0][3] == "bound"
    advised = {
        demand.name for demand in demands(made.policy) if demand.advised and not demand.limit.of_policy
    }
    told = {row[0] for row in rows[1:] if row[3].startswith("advised: ")}
    assert told and told <= advised
    assert "Every limit that can stop a release was measured on the published file" in page.decode()


def test_internal_sets_the_release_beside_the_input(made: Any) -> None:
    found = tables(internal(made))
    rows = found["height: records before and after"]
    assert rows[0] == ["range", "before", "after"]
    before = sum(int(row[1]) for row in rows[1:])
    assert before == made.document["facts"]["raw"]["records"]
    pair = found["Pearson's r of every two released columns of numbers"]
    assert pair[0] == ["columns", "before", "after", "change"]
    originals = made.chain.k_anonymized.frame
    assert float(pair[1][1]) == pytest.approx(originals["height"].corr(originals["income"]), abs=1e-3)
    assert float(pair[1][2]) == pytest.approx(made.frame["height"].corr(made.frame["income"]), abs=1e-3)


def test_the_order_of_records_changes_nothing(made: Any) -> None:
    rng = np.random.default_rng(0)
    chain = made.chain
    originals = chain.k_anonymized.frame.take(rng.permutation(len(chain.k_anonymized.frame)))
    again = internal_report(made.policy, made.document, chain.suppressed.frame, originals)
    assert again == internal(made)
    mixed = made.frame.take(rng.permutation(len(made.frame))).reset_index(drop=True)
    for counted in (distributions(made.policy, [mixed], k=3), correlations(made.policy, [mixed])):
        assert counted in (
            distributions(made.policy, [made.frame], k=3),
            correlations(made.policy, [made.frame]),
        )
    assert class_sizes(made.policy, mixed) == class_sizes(made.policy, made.frame)


def test_suppressed_records_count_before_where_they_have_a_value(
    small_policy: Small, small_people: People, making: Making
) -> None:
    people = small_people()
    people.loc[:1, "age"] = 990
    made = making(small_policy(gate={"linking_risk": 1.0}), people)
    originals = made.chain.k_anonymized.frame
    assert (originals[CLASS] < 0).sum() == 2
    found = tables(internal(made))
    assert sum(int(row[1]) for row in found["age: records before and after"][1:]) == len(originals) - 2
    assert sum(int(row[1]) for row in found["height: records before and after"][1:]) == len(originals)


def test_texts_of_data_and_policy_are_escaped(
    small_policy: Small, small_people: People, making: Making
) -> None:
    people = small_people().rename(columns={"note": "<b>note</b>"})
    people["city"] = people["city"].replace({"Cork": "<script>alert(1)</script>"})
    policy = small_policy(
        columns={"note": None, "<b>note</b>": {"role": "insensitive"}, "height": {"unit": "<i>cm</i>"}}
    )
    made = making(policy, people)
    for page in (public(made), internal(made)):
        assert b"<script" not in page
        assert b"<b>note" not in page
        assert b"<i>cm" not in page
        assert b"&lt;script&gt;" in page


SMALL_CLASSES = {"attacks": {"known_columns": [{"columns": ["note"], "risk": 0.8}]}}
"""In classes of three, one of two notes tells most of who is who."""


@pytest.mark.parametrize(
    "changes",
    [
        {
            "perturb": None,
            "suppress": None,
            "columns": {
                "height": {"role": "sensitive", "distance": "ordered", "unit": None, "resolution": None}
            },
        },
        {"anonymize": {"recoder": "mondrian", "suppression_limit": 0}, "gate": SMALL_CLASSES},
        {
            "gate": SMALL_CLASSES | {"linking_risk": 1.0},
            "anonymize": {"recoder": "mdav", "suppression_limit": 0},
            "columns": {"age": {"hierarchy": {"intervals": None, "numbers": True}}},
        },
        {"columns": {"person": {"action": "mask"}}},
        {"perturb": {"mechanism": "staircase"}},
        {"perturb": {"mechanism": "discrete_gaussian", "delta": 1e-6}},
        {"publish": {"format": "csv"}},
    ],
    ids=["no noise", "mondrian", "mdav", "masked", "staircase", "gaussian", "csv"],
)
def test_every_kind_of_release_has_both_reports(
    small_policy: Small, small_people: People, making: Making, changes: dict[str, Any]
) -> None:
    made = making(small_policy(**changes), small_people())
    for page in (public(made), internal(made)):
        assert page.startswith(b"<!DOCTYPE html>")


def test_the_summary_has_the_k_that_the_gate_demanded_and_masks_are_no_pseudonyms(
    small_policy: Small, small_people: People, making: Making
) -> None:
    policy = small_policy(anonymize={"k": 4}, gate={"k": 3}, columns={"person": {"action": "mask"}})
    made = making(policy, small_people())
    page = public(made).decode()
    said = page.replace("\n", "").replace("  ", "")
    assert "<dt>k demanded of each class</dt><dd>3 records</dd>" in said
    least = made.frame.groupby(["age", "city"], dropna=False).size().min()
    assert least >= 4
    assert f"<dt>smallest class released</dt><dd>{least} records</dd>" in said
    assert "masks, of which nothing is counted" in page
    assert "pseudonyms" not in page


def test_constant_columns_and_one_class_are_fine(
    small_policy: Small, small_people: People, making: Making
) -> None:
    people = small_people().assign(age=30, city="Cork", height=170.0, income=1000, illness="flu", note="a")
    made = making(small_policy(gate={"linking_risk": 1.0}), people)
    rows = tables(internal(made))["Pearson's r of every two released columns of numbers"]
    assert rows[1][1:] == ["–", "–", "–"]
    assert tables(public(made))["height: records"][1][1] == str(len(made.frame))


def test_dates_and_booleans_released_as_they_are(
    small_policy: Small, small_people: People, making: Making
) -> None:
    people = small_people()
    people["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(people)) % 3, unit="D")
    people["flag"] = np.arange(len(people)) % 2 == 0
    policy = small_policy(columns={"day": {"role": "insensitive"}, "flag": {"role": "insensitive"}})
    found = tables(public(making(policy, people)))
    assert [row[0] for row in found["day: records"][1:]] == ["value 1", "value 2", "value 3"]
    assert len(found["flag: records"]) == 3


def test_a_hidden_column_has_a_sentence_and_no_chart(
    small_policy: Small, small_people: People, making: Making
) -> None:
    policy = small_policy(anonymize={"k": 60}, gate={"k": 60, "linking_risk": 1.0})
    made = making(policy, small_people())
    assert set(made.frame["age"]) == {"*"}
    for page in (public(made).decode(), internal(made).decode()):
        assert '<strong>age</strong> <span class="note">(generalize)</span>: hidden. Every record' in page
        assert "Distribution of age" not in page
        assert "Distribution of city" in page


def test_the_measure_of_the_map_is_said_in_words(made: Any) -> None:
    released, originals = made.chain.suppressed.frame, made.chain.k_anonymized.frame
    gate = evaluate(released, made.policy, made.chain.suppressed.facts, originals=originals)
    exact = Exact(made.chain.suppressed.facts, gate)
    page = internal_report(made.policy, made.document, released, originals, exact=exact).decode()
    loss = LOSSES[made.policy.anonymize.loss]
    assert f"{loss.words} ({loss.name})" in page
    assert "Risk and information loss" in page
    assert "Risk and size of classes" in public(made).decode()


def test_with_the_facts_of_the_vault_the_reasons_of_suppression_are_shown(
    small_policy: Small, small_people: People, making: Making
) -> None:
    limits = {"linking_risk": 1.0, "suppression": 1.0}
    made = making(small_policy(gate=limits, suppress={"confidence": 0.5}), small_people())
    facts, released = made.chain.suppressed.facts, made.chain.suppressed.frame
    exact = Exact(facts)
    page = internal_report(made.policy, made.document, released, made.chain.k_anonymized.frame, exact=exact)
    _, *rows = tables(page)["Records that are not in the release, by reason"]
    counts = {reason: int(count) for reason, count in rows}
    in_all = counts.pop("in all")
    counts.pop("cells blanked in records that are released", None)
    assert in_all == facts["suppressed"]["suppressed_in_all"] == sum(counts.values()) > 0
    assert "not published, because" not in page.decode()
