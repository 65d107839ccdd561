"""Samples: independent, of the asked share, the same in any order and in later releases, by people."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import anonymize, make_release
from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.base.packed_tables import pack_large, unpack_table
from anon_pipeline.gate import Status
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.verify.verify import Against, verify_release
from anon_pipeline.stages.sample import take_sample

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
KEY = b"0123456789abcdef0123456789abcdef"


def of(small_policy: Small, share: float = 0.3, **changes: Any) -> Policy:
    return small_policy(sample={"share": share}, deidentify={"key_env": "SAMPLE_KEY"}, **changes)


@pytest.fixture
def people(small_people: Callable[..., pd.DataFrame]) -> People:
    """Make people of whom some have no note."""
    return lambda n=4_000: small_people(n=n).assign(note=lambda frame: frame["note"].replace("b", None))


def chosen(policy: Policy, frame: pd.DataFrame, key: bytes = KEY) -> set[str]:
    return set(unpack_table(take_sample(policy, frame, key=key))["person"])


@pytest.mark.parametrize("share", [0.01, 0.3, 0.99])
def test_each_record_is_in_it_with_the_share(small_policy: Small, people: People, share: float) -> None:
    policy, frame = of(small_policy, share), people()
    sizes = [len(chosen(policy, frame, bytes([at]) * 32)) for at in range(5)]
    assert abs(np.mean(sizes) - 4_000 * share) < 5 * np.sqrt(4_000 * share * (1 - share) / 5)
    one, other = (chosen(of(small_policy, 0.5), frame, bytes([at]) * 32) for at in (1, 2))
    assert abs(len(one & other) - 1_000) < 150  # another key is another, independent sample


def test_it_does_not_depend_on_order_or_on_other_records(small_policy: Small, people: People) -> None:
    policy, frame = of(small_policy), people(500)
    found = chosen(policy, frame)
    assert found == chosen(policy, frame.sample(frac=1, random_state=1).reset_index(drop=True))
    assert found == chosen(policy, pack_large(frame))
    half = frame.iloc[::2].reset_index(drop=True)
    assert chosen(policy, half) == found & set(half["person"])
    smaller = chosen(of(small_policy, 0.1), frame)
    assert smaller < found  # a smaller share is a part of it


def test_equal_records_are_decided_one_by_one(small_policy: Small, people: People) -> None:
    frame = pd.concat([people(1)] * 2_000, ignore_index=True)
    assert 500 < len(take_sample(of(small_policy), frame, key=KEY)) < 700


def test_all_records_of_a_person_are_in_it_or_none(small_policy: Small, people: People) -> None:
    frame = people(300)
    frame = pd.concat(
        [frame, frame.assign(person=frame["person"].str.upper() + " ", age=30)], ignore_index=True
    )
    policy = of(small_policy, person="person", rows_per_person=2)
    found = chosen(policy, frame)
    names = {name.strip().lower() for name in found}
    assert len(found) == 2 * len(names) and 50 < len(names) < 130
    keyed = of(small_policy, record_key="person")
    assert {name.lower() for name in chosen(keyed, people(300))} <= set(people(300)["person"])


def is_member(data: bytes, share: float) -> bool:
    """Tell whether the first 64 bits of a keyed hash are below the share of all that there are."""
    secret = hashlib.sha512(KEY).digest()
    drawn = hashlib.blake2b(data, digest_size=16, key=secret, person=b"anon-pipe sample").digest()
    return Fraction(int.from_bytes(drawn[:8], "big"), 2**64) < Fraction(str(share))


def sample_by_hand(rows: list[tuple[Any, ...]], share: float) -> list[tuple[Any, ...]]:
    """Return the records of a sample: by the hashes of their texts, and which of equal ones each is."""
    secret, before, found = hashlib.sha512(KEY).digest(), Counter[tuple[Any, ...]](), []
    for row in rows:
        data = b"".join(
            hashlib.blake2b(
                b"\x00" if text is None else b"\x01" + text.encode(),
                digest_size=16,
                key=secret,
                person=b"anon-pipe value",
            ).digest()
            for text in row
        )
        if is_member(data + before[row].to_bytes(8, "little"), share):
            found.append(row)
        before[row] += 1
    return found


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_records_are_chosen_as_by_the_slow_twin(small_policy: Small, share: float) -> None:
    """Many of them are equal, and some have empty cells."""
    random = np.random.default_rng(0)
    texts = {name: random.choice(["a", "b", "é", ""], 400) for name in ("person", "city", "note")}
    frame = pd.DataFrame(texts).astype(object).replace("", None)
    found = unpack_table(take_sample(of(small_policy, share), frame, key=KEY)).astype(object)
    rows, chosen = (
        list(one.where(one.notna(), None).itertuples(index=False, name=None)) for one in (frame, found)
    )
    assert chosen == sample_by_hand(rows, share)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_people_are_chosen_as_by_the_slow_twin(small_policy: Small, share: float) -> None:
    """With several records each, whose keys are not written in one way."""
    keys = [f"Person {at % 150}" if at % 2 else f" PERSON {at % 150}" for at in range(450)]
    policy = of(small_policy, share, person="person", rows_per_person=3)
    found = take_sample(policy, pd.DataFrame({"person": keys, "city": "Cork"}), key=KEY)
    wanted = [own for own in keys if is_member(own.strip().lower().encode(), share)]
    assert unpack_table(found)["person"].tolist() == wanted


def test_without_a_key_or_a_record_it_is_refused(small_policy: Small, people: People) -> None:
    with pytest.raises(InputError, match="sample: must have a key"):
        take_sample(of(small_policy), people(5), key=None)
    with pytest.raises(InputError, match="must leave at least one record, got none of 5"):
        take_sample(of(small_policy, 1e-9), people(5), key=KEY)
    with pytest.raises(PolicyError, match=r"deidentify: must be given .* for sample"):
        small_policy(sample={"share": 0.5})
    for share in (0, 1, -1, 2):
        with pytest.raises(PolicyError, match=r"sample\.share"):
            of(small_policy, share)
    assert take_sample(small_policy(), people(5), key=None) is not None


def test_a_release_of_a_sample_is_published_and_verified(
    small_policy: Small, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMPLE_KEY", KEY.decode())
    frame = people(2_000)
    frame["note"] = frame["note"].fillna("b")
    frame.to_csv(tmp_path / "people.csv", index=False)
    policy = of(small_policy, source={"path": "people.csv"}, gate={"linking_risk": 1.0})
    made = make_release(policy, Locations.of(tmp_path, {"SAMPLE_KEY": KEY.decode()}))
    came = made.manifest["facts"]["raw"]["records"]
    assert abs(came - 600) < 120
    assert any(
        "random sample of records, each in it with a probability of 30 %" in x
        for x in made.manifest["guarantee"]
    )
    assert "a random sample of 30 % of the input" in made.report_path.read_text("utf-8")
    for against in (Against(), Against(policy)):
        assert not verify_release(made.manifest_path.parent, against).with_status(Status.REFUSED)
    again = make_release(policy, Locations.of(tmp_path, {}))
    assert again.manifest["facts"]["raw"]["records"] == came


CITIES = {"Cork": 12, "Dublin": 8, "Galway": 4}
MEASURED = ("prosecutor_risk", "population.journalist_risk", "population.marketer_risk")


@pytest.fixture
def risks_of(small_policy: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Release people by city, with their source as the population, and return sizes of classes and risks."""
    cities = [city for city, many in CITIES.items() for _ in range(many)]
    frame = pd.DataFrame({"person": [f"person {at}" for at in range(24)], "age": 40, "city": cities})
    frame.to_csv(tmp_path / "people.csv", index=False)
    known = {"path": "people.csv", "journalist_risk": 1, "marketer_risk": 1}

    def measure(key: str, share: float | None) -> tuple[Any, list[float | None]]:
        monkeypatch.setenv("SAMPLE_KEY", key * 32)
        policy = small_policy(
            columns=dict.fromkeys(("height", "income", "illness", "note")),
            anonymize={"k": 2, "recoder": "fixed", "levels": {"age": 0, "city": 0}, "suppression_limit": 0.3},
            perturb=None,
            suppress=None,
            gate={"k": 2, "attacks": {"prosecutor_risk": 1, "population": known}},
            sample=None if share is None else {"share": share},
            record_key="person",
            deidentify={"key_env": "SAMPLE_KEY"},
        )
        release = anonymize(policy, frame, hierarchies=tmp_path)
        values = {one.limit: one.value for one in release.report.verdicts}
        return release.frame["city"].value_counts().to_dict(), [values[name] for name in MEASURED]

    return measure


@pytest.mark.parametrize(
    ("key", "share", "sizes", "risks"),
    [
        ("0", None, CITIES, [1 / 4, 1 / 4, 3 / 24]),
        ("0", 0.4, {"Cork": 5, "Dublin": 4, "Galway": 2}, [1 / 2, 1 / 4, (5 / 12 + 4 / 8 + 2 / 4) / 11]),
        ("3", 0.4, {"Cork": 4, "Dublin": 3}, [1 / 3, 1 / 8, (4 / 12 + 3 / 8) / 7]),  # of Galway fewer than k
    ],
)
def test_a_journalist_counts_the_people_of_the_whole_input(
    risks_of: Callable[..., Any], key: str, share: float | None, sizes: dict[str, int], risks: list[float]
) -> None:
    """By hand: 1/F of the F people of the smallest class that is released; the prosecutor's is 1/f in it."""
    found = risks_of(key, share)
    assert found[0] == sizes and found[1] == pytest.approx(risks)


def test_a_sample_never_raises_the_journalists_risk(risks_of: Callable[..., Any]) -> None:
    """Who is in the release is not known to him; a prosecutor's risk is that of the smaller classes."""
    _, (prosecutor, journalist, _) = risks_of("0", None)
    for key in "12345":
        _, (own, sampled, _) = risks_of(key, 0.4)
        assert sampled <= journalist == prosecutor <= own


def test_mistakes_outside_of_the_sample_are_found(
    small_policy: Small, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMPLE_KEY", KEY.decode())
    frame = people(200)
    frame["height"] = frame["height"].astype(object)
    frame.loc[[0, 1, 2, 3, 4, 5, 6, 7], "height"] = "tall"
    with pytest.raises(InputError, match="height"):
        anonymize(of(small_policy, 0.02), frame)
