"""The memory grows by what is published, comes back from its table, and tells nothing of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.encode.codes import PERSON, PRIVATE, RECORD
from anon_pipeline.policy import Policy
from anon_pipeline.stages.history.memory import Memory, Past, class_texts, remember
from anon_pipeline.stages.history.memory_table import from_table, to_table

Keeping = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def test_a_release_is_remembered_with_its_persons_and_values(keeping: Keeping, labeled: People) -> None:
    release = anonymize(keeping(), labeled(), memory=Memory.empty())
    memory = release.memory
    assert memory is not None
    assert memory.knows(release.report.data_digest, None)
    assert len(memory.members) == len(release.frame) == memory.members["person"].nunique()
    assert memory.members["person"].str.fullmatch("[0-9a-f]{64}").all()
    assert sorted(memory.values["noisy"]) == sorted(release.frame["height"].astype(int))
    assert not set(PRIVATE) & set(release.frame.columns)


def test_it_comes_back_from_its_table(keeping: Keeping, labeled: People) -> None:
    policy, people = keeping(), labeled()
    memory = anonymize(policy, people, memory=anonymize(policy, people, memory=Memory.empty()).memory).memory
    assert memory is not None
    back = from_table(*to_table(memory))
    assert (back.releases, back.key) == (memory.releases, memory.key)
    pd.testing.assert_frame_equal(back.members, memory.members)
    pd.testing.assert_frame_equal(back.values, memory.values)
    assert len(back.members) == 2 * len(people)
    assert len(back.values) == len(people)  # fresh noise: the last one stays


def test_a_value_has_the_release_that_published_it_last(keeping: Keeping, labeled: People) -> None:
    policy, people = keeping(perturb={"republish": "sticky"}), labeled()
    first = anonymize(policy, people, memory=Memory.empty())
    second = anonymize(policy, people.iloc[:200], memory=first.memory)
    assert second.memory is not None
    digests = [first.report.data_digest, second.report.data_digest]
    one, two = [(key * 32, digest) for key, digest in zip("ab", digests, strict=True)]
    memory = replace(second.memory, releases=tuple(Past(digest, None, key) for key, digest in (one, two)))
    assert memory.values["release"].value_counts().to_dict() == {1: 200, 0: 40}
    assert (memory.only_booked([one]).values["release"] == -1).sum() == 200
    assert (memory.only_booked([two]).values["release"] == -1).sum() == 40
    assert (memory.only_booked([]).values["release"] == -1).all()
    assert (memory.only_booked([(one[0], two[1]), (two[0], one[1])]).values["release"] == -1).all()
    assert memory.only_booked([one, two]).values.equals(memory.values)


def test_equal_tables_of_other_people_are_not_booked_by_each_other(keeping: Keeping, labeled: People) -> None:
    """The second's booking must not hide that the first is booked nowhere, and the other way round."""
    policy = keeping(perturb={"republish": "sticky"})
    memory = anonymize(policy, labeled(), memory=Memory.empty()).memory
    assert memory is not None
    digest = memory.releases[0].digest
    mine = replace(memory, releases=(Past(digest, None, "a" * 32),))
    assert (mine.only_booked([("b" * 32, digest)]).values["release"] == -1).all()
    assert (mine.only_booked([("a" * 32, digest)]).values["release"] == 0).all()
    assert (
        memory.only_booked([("a" * 32, digest)]).values["release"] == -1
    ).all()  # without an id: not booked


def test_one_of_version_1_does_not_know_what_is_booked(keeping: Keeping, labeled: People) -> None:
    memory = anonymize(keeping(), labeled(), memory=Memory.empty()).memory
    assert memory is not None
    frame, found = to_table(memory)
    frame.loc[frame["release"] < 0, "release"] = -1
    back = from_table(frame, {"memory": {**found["memory"], "version": 1}})
    assert (back.values["release"] == -1).all()
    assert (
        back.only_booked([("a" * 32, past.digest) for past in back.releases]).values["release"] == -1
    ).all()
    assert back.values.drop(columns="release").equals(memory.values.drop(columns="release"))


def test_one_of_version_2_is_readable_and_knows_by_the_digest(keeping: Keeping, labeled: People) -> None:
    policy, people = keeping(), labeled()
    first = anonymize(policy, people, memory=Memory.empty())
    assert first.memory is not None
    frame, found = to_table(first.memory)
    past = [release[:2] for release in found["memory"]["releases"]]
    back = from_table(frame, {"memory": {**found["memory"], "version": 2, "releases": past}})
    assert back.releases == (Past(first.report.data_digest, None),)
    assert back.knows(first.report.data_digest, None, "f" * 32)
    second = anonymize(policy, people, memory=back).memory
    assert second is not None
    assert len(second.releases) == 2


def test_an_id_of_the_ledger_tells_releases_of_one_table_apart() -> None:
    digest, one, two = "d" * 64, "1" * 32, "2" * 32
    past = Past(digest, "monday", one)
    memory = replace(Memory.empty(), releases=(past,))
    assert memory.knows(digest, "monday", one)
    assert memory.knows(digest, "monday")
    assert not memory.knows(digest, "monday", two)
    assert not memory.knows(digest, "tuesday", one)
    assert not memory.knows("e" * 64, "monday", one)
    assert from_table(*to_table(memory)).releases == (past,)


def test_the_whole_epsilon_of_each_policy_is_remembered(keeping: Keeping, labeled: People) -> None:
    memory = Memory.empty()
    for epsilon in (8, 0.5, 0.1):
        later = anonymize(keeping(perturb={"epsilon": epsilon}), labeled(), memory=memory).memory
        assert later is not None
        memory = from_table(*to_table(later))
    assert [past.epsilon for past in memory.releases] == ["8", "1/2", "1/10"]


def test_one_table_of_two_policies_is_two_releases(keeping: Keeping) -> None:
    """Without an id of the ledger a smaller ε must not stand for a larger one."""
    originals = pd.DataFrame({PERSON: ["a"], RECORD: ["1"], "age": ["20-29"], "city": ["*"], "height": [170]})
    released, memory = originals.drop(columns=PERSON), Memory.empty()
    for epsilon in (1, 8, 8):
        policy = keeping(perturb={"epsilon": epsilon})
        memory = remember(memory, policy, released, originals, past=Past("d" * 64, None))
    assert [past.epsilon for past in memory.releases] == ["1", "8"]


def test_noise_that_changed_hands_is_remembered(keeping: Keeping) -> None:
    """Two people of one class swap their noisy values: the table is the same, what to re-use is not."""
    policy = keeping(anonymize={"k": 2})
    originals = pd.DataFrame(
        {
            PERSON: ["a", "b"],
            RECORD: ["1", "2"],
            "age": pd.array(["20-29"] * 2, dtype="str"),
            "city": pd.array(["*"] * 2, dtype="str"),
            "height": [170, 170],
        }
    )
    released = originals.assign(height=[168, 173]).drop(columns=PERSON)
    swapped = released.assign(**{RECORD: ["2", "1"]})
    past = Past("digest", None)
    memory = remember(Memory.empty(), policy, released, originals, past=past)
    assert remember(memory, policy, released, originals, past=past) is memory
    after = remember(memory, policy, swapped, originals, past=past)
    assert after.releases == (replace(past, epsilon="2"),) * 2
    assert after.values.set_index("person")["noisy"].to_dict() == {"a": 173, "b": 168}


def test_an_empty_one_comes_back() -> None:
    back = from_table(*to_table(Memory.empty()))
    assert back.releases == ()
    assert len(back.members) == len(back.values) == 0


def test_another_table_is_refused(keeping: Keeping, labeled: People) -> None:
    frame, facts = to_table(Memory.empty())
    with pytest.raises(InputError, match="memory of a release must be one that this version wrote"):
        from_table(frame, {"memory": {**facts["memory"], "version": 5}})
    with pytest.raises(InputError, match="memory of a release must be one that this version wrote"):
        from_table(frame, {})
    with pytest.raises(InputError, match="memory of a release must be one that this version wrote"):
        from_table(frame.drop(columns="terms"), facts)


def test_it_shows_counts_and_nothing_else(keeping: Keeping, labeled: People) -> None:
    memory = anonymize(keeping(), labeled(), memory=Memory.empty()).memory
    assert repr(memory) == "Memory(1 releases, 240 values)"


def test_a_refused_release_is_not_remembered(keeping: Keeping, labeled: People) -> None:
    refused = anonymize(
        keeping(gate={"attacks": {"prosecutor_risk": 0.001}}), labeled(), memory=Memory.empty()
    )
    with pytest.raises(GateRefused, match=r"the release:\nprosecutor_risk \(at most 0.001\) refused$"):
        _ = refused.memory


def test_a_memory_of_another_key_is_refused(
    keeping: Keeping, labeled: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, people = keeping(), labeled()
    memory = anonymize(policy, people, memory=Memory.empty()).memory
    monkeypatch.setenv("ANON_TEST_KEY", "another key of 22 bytes")
    with pytest.raises(InputError, match="another record_key or key"):
        anonymize(policy, people, memory=memory)


def test_a_memory_needs_a_record_key(keeping: Keeping, labeled: People) -> None:
    memory = anonymize(keeping(), labeled(), memory=Memory.empty()).memory
    with pytest.raises(InputError, match="with record_key, and only with it"):
        anonymize(keeping(record_key=None), labeled(), memory=memory)


def test_class_texts_tell_missing_values_from_texts(keeping: Keeping) -> None:
    frame = pd.DataFrame({"age": ["a", "a", None], "city": ["null", None, "x"]}, dtype="str")
    assert class_texts(frame, keeping()).tolist() == ['["a", "null"]', '["a", null]', '[null, "x"]']
