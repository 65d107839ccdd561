"""Partitions together are the release of the whole table: its levels, its classes, what it suppresses."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.division import chosen_classes, plan
from anon_pipeline.division import divide as module
from anon_pipeline.division.divide import Division, divide
from anon_pipeline.division.record_counter import RecordCounter
from anon_pipeline.policy import Policy, load_policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.whole_chain import anonymize
from anon_pipeline.sources import read_source
from tests.conftest import SMALL, merged

CANARY = "Quillfeather-4711"
QUIET: dict[str, Any] = {
    "one_record_per_person": True,
    "source": {"path": "people.parquet", "format": "parquet"},
    "columns": {"height": {"role": "insensitive", "round": 10, "unit": None, "resolution": None}},
    "perturb": None,
    "suppress": None,
    "gate": {"t_closeness": {"illness": 0.95}},
}


def people(n: int = 3_000, seed: int = 0) -> pd.DataFrame:
    """People of whom some have rare ages and cities."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": [f"{CANARY} {i}" for i in range(n)],
            "age": rng.gamma(9, 5, n).astype(int).clip(18, 99),
            "city": rng.choice(["Cork", "Dublin", "Galway", "Sligo"], n, p=[0.3, 0.6, 0.09, 0.01]),
            "height": rng.normal(170, 9, n).round(),
            "income": rng.integers(20, 40, n) * 1000,
            "illness": rng.choice(["asthma", "flu", "gout", "none"], n),
            "note": rng.choice(["a", "b"], n),
        }
    )


def project(folder: Path, frame: pd.DataFrame, **changes: Any) -> tuple[Path, Policy]:
    """Write a project of a policy and its table."""
    frame.to_parquet(folder / "people.parquet", index=False)
    attributes = merged(merged(SMALL, QUIET), changes)
    path = folder / "policy.yaml"
    path.write_text(yaml.safe_dump({"type": "anon_pipeline.AnonymizedRelease", "attributes": attributes}))
    return path, load_policy(path)


def divided(path: Path, policy: Policy, parts: int | None = 3, **more: Any) -> Division:
    return divide(path, policy, Locations.of(path.parent), parts=parts, **more)


def releases(found: Division) -> list[Any]:
    """Make the release of each partition in memory."""
    policy = load_policy(found.policy)
    frames = [pd.read_parquet(found.files / f"{key}.parquet") for key in found.keys]
    return [anonymize(policy, frame) for frame in frames]


def rows(*frames: pd.DataFrame) -> list[tuple[object, ...]]:
    """Return the records of tables, sorted."""
    return sorted(tuple(map(str, row)) for frame in frames for row in frame.itertuples(index=False))


@pytest.mark.parametrize("recoder", ["optimal", "ola", "datafly"])
@pytest.mark.parametrize("missing", [False, True])
def test_together_they_are_the_release_of_the_whole(tmp_path: Path, recoder: str, missing: bool) -> None:
    frame = people()
    changes: dict[str, Any] = {"anonymize": {"recoder": recoder, "k": 5}}
    if missing:
        frame["illness"] = frame["illness"].where(frame.index % 60 > 0)
        changes["columns"] = {"illness": {"missing": "suppress"}}
    path, policy = project(tmp_path, frame, **changes)
    whole = anonymize(policy, frame)
    found = divided(path, policy)
    made = releases(found)
    assert found.levels == whole.facts["k_anonymized"]["levels"]
    assert rows(*(one.frame for one in made)) == rows(whole.frame)
    for name in ("suppressed_by_recoding", "suppressed_incomplete", "classes"):
        together = sum(one.facts["k_anonymized"][name] for one in made)
        assert together == whole.facts["k_anonymized"][name] > (0 if missing else -1)
    keys = [{tuple(row) for row in one.frame[["age", "city"]].astype(str).to_numpy()} for one in made]
    assert sum(map(len, keys)) == len(set.union(*keys))  # each class is in one partition
    sizes = [pq.read_metadata(path).num_rows for path in sorted(found.files.glob("*.parquet"))]
    assert sum(sizes) == len(frame)
    gone = [one.facts["k_anonymized"]["suppressed_by_recoding"] for one in made]
    shares = [own / size for own, size in zip(gone, sizes, strict=True)]
    assert max(shares) - min(shares) < 0.01


@pytest.mark.parametrize("missing", [False, True])
def test_together_they_are_the_release_by_cuts_of_the_whole(tmp_path: Path, missing: bool) -> None:
    frame = people()
    frame["age"] = frame["age"].where(frame.index % 70 > 0)
    changes: dict[str, Any] = {"anonymize": {"recoder": "mondrian", "k": 5}}
    if missing:
        frame["illness"] = frame["illness"].where(frame.index % 60 > 0)
        changes["columns"] = {"illness": {"missing": "suppress"}}
    path, policy = project(tmp_path, frame, **changes)
    whole = anonymize(policy, frame)
    found = divided(path, policy)
    assert found.levels == {}
    made = releases(found)
    assert [one.report.passed for one in made] == [True] * 3
    assert rows(*(one.frame for one in made)) == rows(whole.frame)
    assert sum(one.facts["k_anonymized"]["classes"] for one in made) == whole.facts["k_anonymized"]["classes"]
    keys = [{tuple(row) for row in one.frame[["age", "city"]].astype(str).to_numpy()} for one in made]
    assert sum(map(len, keys)) == len(set.union(*keys)) > 100  # each class is in one partition
    assert "division_class" not in made[0].frame


def test_cuts_are_near_enough_to_the_whole_for_each_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cuts by the policy's t come so near to it that a partition would suppress some of the classes."""
    frame = people()
    limits = {"t_closeness": {"illness": 0.3}, "l_diversity": {"illness": {"kind": "distinct", "l": 2}}}
    asked = {"recoder": "mondrian", "k": 5, "suppression_limit": 0}
    path, policy = project(tmp_path, frame, anonymize=asked, gate=limits)
    tried = list[float]()

    def choose(task: Any, deciding: Any) -> Any:
        tried.extend(limit.t for limit in task.constraints.sensitive)
        return chosen_classes.choose_classes(task, deciding)

    monkeypatch.setattr(plan, "choose_classes", choose)
    found = divided(path, policy)
    (t,) = found.closeness.values()
    assert 0.2 < tried[-1] < t < tried[0] == 0.3
    made = releases(found)
    assert sum(len(one.frame) for one in made) == len(frame)
    assert [one.report.passed for one in made] == [True] * 3
    nearer = {**limits, "t_closeness": {"illness": tried[-1]}}
    whole = anonymize(project(tmp_path, frame, anonymize=asked, gate=nearer)[1], frame)
    assert rows(*(one.frame for one in made)) == rows(whole.frame)


def test_partitions_too_far_from_the_whole_for_any_cut_are_refused(tmp_path: Path) -> None:
    asked = {"recoder": "mondrian", "k": 5, "suppression_limit": 0}
    path, policy = project(tmp_path, people(300), anonymize=asked, gate={"t_closeness": {"illness": 0.15}})
    with pytest.raises(InputError, match=r"partitions would be beyond anonymize\.suppression_limit"):
        divided(path, policy, parts=2)


def test_a_source_may_have_the_name_of_the_column_of_classes(tmp_path: Path) -> None:
    frame = people().rename(columns={"note": "division_class"})
    columns = {"note": None, "division_class": {"role": "insensitive"}}
    path, policy = project(tmp_path, frame, anonymize={"recoder": "mondrian", "k": 5}, columns=columns)
    made = releases(divided(path, policy))
    assert rows(*(one.frame for one in made)) == rows(anonymize(policy, frame).frame)
    assert set(made[0].frame["division_class"]) == {"a", "b"}


def test_with_noise_levels_and_classes_are_those_of_the_whole(tmp_path: Path) -> None:
    frame = people()
    path, policy = project(
        tmp_path,
        frame,
        columns={"height": {"role": "perturb", "resolution": 1, "round": None}},
        perturb={"epsilon": 2},
        gate={"linking_risk": 0.5},
    )
    whole, made = anonymize(policy, frame), releases(divided(path, policy))
    assert all(one.report.passed for one in made)
    for name in ("suppressed_by_recoding", "classes"):
        together = sum(one.facts["k_anonymized"][name] for one in made)
        assert together == whole.facts["k_anonymized"][name]


def test_whatever_is_counted_together_the_division_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.secrets, "token_hex", lambda digits: "ab12cd34"[: 2 * digits])
    found = []
    for most in (1, 40, 2**22):
        folder = tmp_path / str(most)
        folder.mkdir()
        path, policy = project(folder, people())
        monkeypatch.setattr(chosen_classes, "RecordCounter", partial(RecordCounter, most=most))
        made = divided(path, policy)
        found.append([(made.files / f"{key}.parquet").read_bytes() for key in made.keys])
        assert made.keys == ("dab12cd34.1", "dab12cd34.2", "dab12cd34.3")
    assert found[0] == found[1] == found[2]


def test_the_policy_keeps_t_towards_the_whole(tmp_path: Path) -> None:
    path, policy = project(tmp_path, people(), gate={"t_closeness": {"illness": 0.6, "income": 0.7}})
    found = divided(path, policy)
    assert 0.5 < found.closeness["illness"] < 0.6
    demanded = load_policy(found.policy).gate.t_closeness
    assert demanded == {"illness": 0.6, "income": 0.7, **found.closeness}
    assert found.apart == ()


@pytest.mark.parametrize("recoder", ["optimal", "mondrian"])
@pytest.mark.parametrize("own", [{}, {"illness": 0.9}])
def test_the_gate_has_its_own_smaller_t_where_the_recoder_keeps_another(
    tmp_path: Path, recoder: str, own: dict[str, float]
) -> None:
    frame = people()
    asked = {"recoder": recoder, "k": 5, "t_closeness": own}
    gate = {"t_closeness": {"illness": 0.3}, "suppression": 0.9}
    path, policy = project(tmp_path, frame, anonymize=asked, gate=gate)
    found = divided(path, policy, parts=10)
    made = load_policy(found.policy)
    t = made.gate.t_closeness["illness"]
    assert 0.2 < t < 0.3 and found.closeness["illness"] == t
    assert made.anonymize.t_closeness == ({} if not own else {"illness": round(0.9 + t - 0.3, 2)})
    released = pd.concat([one.frame for one in releases(found)])
    whole = frame["illness"].value_counts(normalize=True)
    for _, group in released.groupby(["age", "city"], dropna=False):
        share = group["illness"].value_counts(normalize=True).reindex(whole.index, fill_value=0)
        assert (share - whole).abs().sum() / 2 <= 0.3 + 1e-9


def test_a_folder_of_files_with_keys(tmp_path: Path) -> None:
    frame = people()
    path, policy = project(
        tmp_path, frame, source={"path": "people"}, columns={"year": {"role": "insensitive"}}
    )
    for year in ("2024", "2025"):
        (tmp_path / "people" / f"year={year}").mkdir(parents=True)
        some = frame[frame["note"] == ("a" if year == "2024" else "b")]
        some.to_parquet(tmp_path / "people" / f"year={year}" / "part.parquet", index=False)
    found = divided(path, policy, parts=2)
    read = pd.concat([pd.read_parquet(found.files / f"{key}.parquet") for key in found.keys])
    assert rows(read) == rows(frame.assign(year=frame["note"].map({"a": "2024", "b": "2025"})))


@pytest.mark.parametrize(
    ("parts", "message"),
    [(900, "--into must be from 2 to 600"), (500, "number of classes"), (1, "from 2 to")],
)
def test_so_many_partitions_cannot_be_made(tmp_path: Path, parts: int, message: str) -> None:
    path, policy = project(tmp_path, people(), anonymize={"k": 5})
    with pytest.raises(InputError, match=message):
        divided(path, policy, parts=parts)
    assert not (tmp_path / "partitions").exists()


def test_a_partition_beyond_the_suppression_limit_is_refused(tmp_path: Path) -> None:
    frame = people()
    path, policy = project(tmp_path, frame, anonymize={"k": 5})
    whole = anonymize(policy, frame).facts["k_anonymized"]
    exact = whole["suppressed_by_recoding"] / len(frame)
    path, policy = project(tmp_path, frame, anonymize={"k": 5, "suppression_limit": exact})
    assert anonymize(policy, frame).facts["k_anonymized"]["levels"] == whole["levels"]
    with pytest.raises(InputError, match=r"would be beyond anonymize\.suppression_limit"):
        divided(path, policy, parts=7)


def test_files_go_below_the_sources_alone(tmp_path: Path) -> None:
    path, policy = project(tmp_path, people())
    (tmp_path / "link").symlink_to(tmp_path.parent)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    for wrong, message in (
        (tmp_path.parent, "be a folder below"),
        (tmp_path / "here" / ".." / ".." / "there", "be a folder below"),
        (tmp_path / "link" / "there", "be a folder below"),
        (tmp_path, "be a folder below"),
        (tmp_path / "full", "be a new or an empty folder"),
        (tmp_path / "{partition}", "have no {"),
        (tmp_path / "out" / "parts", "not lie within a folder of releases"),
    ):
        with pytest.raises(InputError, match=rf"\(--to\) must {message}"):
            divided(path, policy, to=wrong)
    found = divided(path, policy, to=tmp_path / "here")
    assert found.files == tmp_path / "here"
    assert load_policy(found.policy).source.place == "here/{partition}.parquet"


def test_nothing_of_the_data_is_in_the_policy_or_in_what_is_said(tmp_path: Path) -> None:
    said = []
    path, policy = project(tmp_path, people())
    found = divided(path, policy, parts=None, observe=said.append)
    assert len(found.keys) == 2
    assert CANARY not in found.policy.read_text() + repr(found) + repr(said)
    assert [event.name for event in said if hasattr(event, "name")] == [
        "counting",
        "choosing classes",
        "writing partitions",
    ]


def test_a_mistake_in_the_data_ends_it_by_name(tmp_path: Path) -> None:
    frame = people().assign(city=lambda table: table["city"].where(table.index > 4, CANARY))
    tree = {"tree": {"Ireland": ["Cork", "Dublin", "Galway", "Sligo"]}, "suppress": None}
    path, policy = project(tmp_path, frame, columns={"city": {"hierarchy": tree}})
    with pytest.raises(InputError, match="city: every value must be a leaf") as raised:
        divided(path, policy)
    assert CANARY not in str(raised.value)


def test_partitions_are_not_written_into_the_source(tmp_path: Path) -> None:
    path, policy = project(tmp_path, people(), source={"path": "people"})
    (tmp_path / "people").mkdir()
    (tmp_path / "people.parquet").rename(tmp_path / "people" / "part.parquet")
    with pytest.raises(InputError, match="must not lie within the source"):
        divided(path, policy, to=tmp_path / "people" / "parts")
    assert len(divided(path, policy).keys) == 3


def test_a_source_that_changes_leaves_no_partition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, policy = project(tmp_path, people())
    write = module.write_parts

    def changing(*given: Any, **more: Any) -> None:
        write(*given, **more)
        (tmp_path / "people.parquet").touch()

    monkeypatch.setattr(module, "write_parts", changing)
    with pytest.raises(InputError, match="must not change while it is read"):
        divided(path, policy)
    assert not list(tmp_path.rglob("partitions/*/*.parquet"))
    assert not list(tmp_path.glob("policy-*"))
    monkeypatch.setattr(module, "write_parts", write)
    assert not list((tmp_path / "partitions").iterdir())
    mine = tmp_path / "mine"
    assert divided(path, policy, to=mine).files == mine


def test_types_are_those_of_the_whole_table(tmp_path: Path) -> None:
    path, policy = project(tmp_path, people(), clean={"type": "auto"})
    with pytest.raises(PolicyError, match="clean: must name the type of"):
        divided(path, policy)


def test_templates_are_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMALLEST", "4")
    path, _ = project(tmp_path, people(), anonymize={"k": "{{ env.SMALLEST | int }}"})
    path.write_text(path.read_text().replace("'{{ env.SMALLEST | int }}'", '"{{ env.SMALLEST | int }}"'))
    policy = load_policy(path)
    assert policy.anonymize.k == 4
    assert load_policy(divided(path, policy).policy).anonymize.k == 4


def test_columns_that_the_policy_does_not_know_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    path, policy = project(tmp_path, people().rename(columns={"note": CANARY}))
    with pytest.raises(InputError, match="note") as raised:
        divided(path, policy)
    assert CANARY not in str(raised.value)


def test_it_is_published_beside_the_whole_under_a_name_of_its_own(tmp_path: Path) -> None:
    path, policy = project(tmp_path, people())
    found = load_policy(divided(path, policy).policy)
    assert (found.name, found.dataset) == ("small_divided", "small")
    assert found.publish.to == f"out_divided/{found.schedule.keys[0].partition('.')[0]}"
    path, policy = project(tmp_path, people(), publish={"to": "a/../out//"})
    assert load_policy(divided(path, policy).policy).publish.to.startswith("out_divided/")


def test_with_a_vault_key_no_plain_text_is_written_and_releases_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, policy = project(tmp_path, people())
    plain = divided(path, policy)
    whole = rows(*(one.frame for one in releases(plain)))
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", bytes(range(32)).hex())
    found = divided(path, policy)
    assert found.encrypted and not plain.encrypted
    for file in found.files.glob("*.parquet"):
        assert CANARY.encode() not in file.read_bytes()
    made = load_policy(found.policy)
    assert made.source.encrypted and not load_policy(plain.policy).source.encrypted
    tables = [read_source(made, folder=tmp_path, partition=key) for key in found.keys]
    assert rows(*(anonymize(made, table).frame for table in tables)) == whole
    planted = found.files / f"{found.keys[0]}.parquet"
    people(50).to_parquet(planted, index=False)
    with pytest.raises(InputError, match="must be encrypted"):
        read_source(made, folder=tmp_path, partition=found.keys[0])


def in_database(frame: pd.DataFrame, folder: Path) -> dict[str, Any]:
    """Write people into SQLite, and let a query give them in another order each time."""
    with closing(sqlite3.connect(folder / "people.sqlite")) as connection:
        frame.to_sql("people", connection, index=False)
    query = "SELECT * FROM people ORDER BY random()"
    return {"path": None, "format": None, "sql": {"url_env": "OWN_URL", "query": query}}


def in_file(form: str, frame: pd.DataFrame, folder: Path) -> dict[str, Any]:
    """Write people into a file, and return the source of the policy."""
    if form == "csv":
        frame.to_csv(folder / "people.csv", sep=";", index=False)
        return {"path": "people.csv", "format": "csv", "options": {"sep": ";"}}
    if form == "packed":
        frame.to_csv(folder / "people.csv.gz", index=False)
        return {"path": "people.csv.gz", "format": "csv"}
    if form == "jsonl":
        frame.to_json(folder / "people.jsonl", orient="records", lines=True)
        return {"path": "people.jsonl", "format": "jsonl"}
    return in_database(frame, folder)


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("form", ["csv", "packed", "jsonl", "sql"])
def test_any_source_is_divided_as_the_same_table_in_parquet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, encrypted: bool
) -> None:
    if encrypted:
        monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", bytes(range(32)).hex())
    monkeypatch.setenv("OWN_URL", f"sqlite:///{tmp_path / 'people.sqlite'}")
    frame, steps = people(), list[Any]()
    path, policy = project(tmp_path, frame)
    plain = divided(path, policy)
    path, policy = project(tmp_path, frame, source=in_file(form, frame, tmp_path))
    found = divided(path, policy, observe=steps.append)
    assert steps[0].name == "copying the source"
    assert (found.levels, found.closeness) == (plain.levels, plain.closeness)
    assert {one.name for one in found.files.iterdir()} == {
        ".gitignore",
        *(f"{key}.parquet" for key in found.keys),
    }
    made = [load_policy(one.policy) for one in (plain, found)]
    assert "sql" not in found.policy.read_text() and made[1].source.encrypted == encrypted
    tables = [
        [anonymize(one, read_source(one, folder=tmp_path, partition=key)).frame for key in keys]
        for one, keys in zip(made, (plain.keys, found.keys), strict=True)
    ]
    assert rows(*tables[0]) == rows(*tables[1])


def test_an_encrypted_partition_can_be_divided_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", bytes(range(32)).hex())
    path, policy = project(tmp_path, people())
    first = divided(path, policy, parts=2)
    inside = (first.files / f"{first.keys[0]}.parquet").relative_to(tmp_path)
    source = {"path": str(inside), "encrypted": True}
    path, policy = project(tmp_path, people(), source=source)
    again = divided(path, policy, parts=2)
    read = [read_source(load_policy(again.policy), folder=tmp_path, partition=key) for key in again.keys]
    whole = read_source(load_policy(first.policy), folder=tmp_path, partition=first.keys[0])
    assert rows(*read) == rows(whole)
    (tmp_path / inside).write_bytes((tmp_path / "people.parquet").read_bytes())
    with pytest.raises(InputError, match="must be encrypted"):
        divided(path, policy, parts=2)


def test_a_folder_that_another_division_has_filled_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, policy = project(tmp_path, people())
    mine, first = tmp_path / "mine", list[Division]()
    plan_one = module.plan_division

    def overtaken(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(module, "plan_division", plan_one)
        first.append(divided(path, policy, to=mine))
        return plan_one(*given, **more)

    monkeypatch.setattr(module, "plan_division", overtaken)
    with pytest.raises(InputError, match="must be a new or an empty folder"):
        divided(path, policy, to=mine)
    assert {one.stem for one in mine.glob("*.parquet")} == {*first[0].keys}


def test_limits_of_a_text_file_do_not_refuse_its_partitions(tmp_path: Path) -> None:
    source = in_file("csv", people(), tmp_path) | {"limits": {"uncompressed_bytes": 5_000}}
    path, policy = project(tmp_path, people(), source=source)
    found = divided(path, policy)
    made = load_policy(found.policy)
    assert sum(len(read_source(made, folder=tmp_path, partition=key)) for key in found.keys) == 3_000
    assert made.source.limits.rows == policy.source.limits.rows


def test_a_name_with_a_line_feed_stays_in_the_comment(tmp_path: Path) -> None:
    path, policy = project(tmp_path, people())
    strange = path.rename(tmp_path / "a\nbudget: {}.yaml")
    assert load_policy(divided(strange, policy).policy).budget is None


def test_nested_json_is_refused_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "people.jsonl").write_text('{"person": "x", "note": {"a": 1}}\n' * 30)
    path, policy = project(tmp_path, people(), source={"path": "people.jsonl", "format": "jsonl"})
    with pytest.raises(InputError, match="got 30 lines with something else"):
        divided(path, policy)


def test_an_empty_folder_of_the_user_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, policy = project(tmp_path, people(), source=in_file("csv", people(), tmp_path))
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / ".gitignore").write_text("own")

    def failing(*given: Any, **more: Any) -> None:
        raise InputError("enough")

    monkeypatch.setattr(module, "write_parts", failing)
    with pytest.raises(InputError, match="enough"):
        divided(path, policy, to=mine)
    assert [one.name for one in mine.iterdir()] == [".gitignore"]
    with pytest.raises(InputError, match="enough"):
        divided(path, policy, to=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_json_lines_without_any_name_lack_the_columns(tmp_path: Path) -> None:
    (tmp_path / "people.jsonl").write_text("{}\n" * 30)
    path, policy = project(tmp_path, people(), source={"path": "people.jsonl", "format": "jsonl"})
    with pytest.raises(InputError, match="must be in the data"):
        divided(path, policy)
