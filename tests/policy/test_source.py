"""The section `source`: one of several kinds, without credentials, private, and equal digests as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.source import SOURCES, Source, placeless
from anon_pipeline.policy.walks import binding_fields, named_paths, public_fields
from tests.conftest import SMALL

Small = Callable[..., Policy]
CANARY = "Quillfeather-4711"
EACH: dict[str, dict[str, Any]] = {
    "path": {"path": "people.csv"},
    "url": {"url": "s3://bank/people.csv"},
    "url_env": {"url_env": "PEOPLE_URL"},
    "sql": {"sql": {"url_env": "WAREHOUSE_URL", "query": "SELECT 1"}},
    "duckdb": {"duckdb": {"path": "people.duckdb", "table": "people"}},
    "iceberg": {"iceberg": {"catalog": "warehouse", "table": "shop.people"}},
    "delta": {"delta": {"path": "people", "version": 12}},
    "spark": {"spark": {"url_env": "SPARK_URL", "table": "main.shop.people"}},
    "asset": {"asset": ["warehouse", "customers"]},
    "generate": {"generate": "patients"},
}


def of(source: dict[str, Any]) -> Policy:
    return policy_from({**SMALL, "source": source})


def refused(source: dict[str, Any]) -> str:
    with pytest.raises(PolicyError) as caught:
        of(source)
    return str(caught.value)


def test_each_kind_is_a_key_of_the_section() -> None:
    assert {*EACH} == {*SOURCES} <= {*Source.model_fields}
    for kind, source in EACH.items():
        assert of(source).source.kind.name == kind


TRAITS = {
    "path": {"watched"},
    "url": {"remote"},
    "url_env": {"remote"},
    "sql": set(),
    "duckdb": set(),
    "iceberg": set(),
    "delta": set(),
    "spark": {"session"},
    "asset": {"upstream"},
    "generate": {"generated"},
}


def test_each_kind_says_what_others_ask_of_it() -> None:
    asked = ("watched", "remote", "upstream", "session", "generated")
    assert {name: {one for one in asked if getattr(kind, one)} for name, kind in SOURCES.items()} == TRAITS
    assert {kind: of(source).source.watched for kind, source in EACH.items()} == {
        **dict.fromkeys(EACH),
        "path": "people.csv",
    }


def test_what_stands_at_the_key_is_the_place() -> None:
    found = {kind: of(source).source.place for kind, source in EACH.items()}
    assert (found["path"], found["url_env"], found["generate"]) == ("people.csv", "PEOPLE_URL", "patients")
    assert found["asset"] == ("warehouse", "customers")
    assert found["duckdb"].path == "people.duckdb"


def test_a_policy_of_a_frame_in_memory_names_no_path() -> None:
    policy = of(EACH["path"]).model_copy(update={"source": placeless()})
    assert not [one for one in named_paths(policy) if one.where == "source.path"]
    assert policy.source.kind.generated


def test_the_schema_has_each_kind_with_its_words() -> None:
    schema = Policy.model_json_schema()["$defs"]["Source"]
    assert schema["description"] == (
        "Where the personal data comes from: one of path, url, url_env, sql, duckdb, iceberg, delta, spark, "
        "asset and generate."
    )
    for name, kind in SOURCES.items():
        assert schema["properties"][name]["description"] == kind.description


def test_one_kind_and_no_more() -> None:
    for source in ({}, {**EACH["path"], **EACH["url"]}, {**EACH["sql"], **EACH["asset"]}):
        assert f"exactly one of {', '.join(SOURCES)} must be given" in refused(source)


def test_of_a_database_a_table_or_a_query() -> None:
    for kind, place in (("sql", {"url_env": "A"}), ("duckdb", {"path": "a"}), ("spark", {})):
        for wanted in ({}, {"table": "a", "query": "SELECT 1"}):
            assert "exactly one of table and query must be given" in refused({kind: {**place, **wanted}})
    assert of({"sql": {"url_env": "A", "table": ["public", "people"]}}).source.sql.path_of_table == (
        "public",
        "people",
    )


def test_digests_are_what_they_were(small_policy: Small) -> None:
    """Of a policy of 0.1.0, whose manifests name them."""
    known = {"path", "format", "options", "limits", "generate", "records", "seed"}
    document = small_policy().model_dump(mode="json")["source"]
    assert set(document) == known
    assert set(document["options"]) == {"sep", "encoding", "decimal", "missing"}


@pytest.mark.parametrize("kind", EACH)
def test_a_source_is_private_and_binds_the_tables(kind: str) -> None:
    policy, other = of(EACH[kind]), of({"path": "other.csv"})
    assert "source" not in public_fields(policy)
    assert binding_fields(policy)["source"] != binding_fields(other)["source"]
    assert policy.making != other.making


def test_a_query_binds_the_tables() -> None:
    one, two = (of({"sql": {"url_env": "A", "query": f"SELECT {n}"}}) for n in (1, 2))
    assert one.making != two.making


def test_only_paths_are_paths() -> None:
    """And the name of the format, which nobody has marked."""
    found = {kind: {one.where for one in named_paths(of(source))} for kind, source in EACH.items()}
    own = {kind: {where for where in found[kind] if where.startswith("source.")} for kind in EACH}
    kinds = {"source.format", "source.generate"}
    assert {kind: where - kinds for kind, where in own.items() if where - kinds} == {
        "path": {"source.path"},
        "duckdb": {"source.duckdb.path"},
        "delta": {"source.delta.path"},
    }


@pytest.mark.parametrize(
    "url",
    [
        f"s3://key:{CANARY}@bank/a",
        f"https://host/a?token={CANARY}",
        f"https://user:{CANARY}@host/a",
        f"az://bank/a?sig={CANARY}",
        f"/etc/{CANARY}",
        f"file:///etc/{CANARY}",
        f"git://{CANARY}/a",
        f"simplecache::s3://{CANARY}/a",
        f"http://{CANARY}/a.csv",
        f"HTTPS://{CANARY}/a.csv",
    ],
)
def test_a_url_with_credentials_or_of_another_kind_is_refused_and_not_repeated(url: str) -> None:
    said = refused({"url": url})
    assert said.startswith("source.url: must")
    with pytest.raises(ValidationError) as caught:  # what Dagster shows
        Policy.model_validate({**SMALL, "source": {"url": url}})
    assert CANARY not in said + str(caught.value)


def test_a_url_where_a_variable_belongs_is_not_repeated() -> None:
    for source in (
        {"url_env": f"s3://{CANARY}"},
        {"sql": {"url_env": f"postgresql://{CANARY}", "table": "a"}},
        {"spark": {"url_env": f"sc://{CANARY}", "table": "a"}},
    ):
        assert CANARY not in refused(source)


@pytest.mark.parametrize(
    ("source", "key", "mark"),
    [
        ({"path": "{partition}.csv"}, "path", "{partition}"),
        ({"url": "s3://b/{partition}.csv"}, "url", "{partition}"),
        ({"sql": {"url_env": "A", "query": "SELECT :partition"}}, "sql.query", ":partition"),
        ({"duckdb": {"path": "a", "query": "SELECT $partition"}}, "duckdb.query", "$partition"),
        ({"duckdb": {"path": "{partition}", "table": "a"}}, "duckdb.path", "{partition}"),
        ({"iceberg": {"catalog": "a", "table": "b.{partition}"}}, "iceberg.table", "{partition}"),
        ({"iceberg": {"catalog": "a", "table": "b.c", "ref": "{partition}"}}, "iceberg.ref", "{partition}"),
        ({"spark": {"table": "a.{partition}"}}, "spark.table", "{partition}"),
        ({"spark": {"query": "SELECT :partition"}}, "spark.query", ":partition"),
        ({"delta": {"path": "{partition}"}}, "delta.path", "{partition}"),
        ({"delta": {"url": "s3://b/{partition}"}}, "delta.url", "{partition}"),
    ],
)
def test_what_names_the_partition_needs_a_schedule(source: dict[str, Any], key: str, mark: str) -> None:
    assert f"source.{key}: {mark} needs schedule.partitions" in refused(source)
    schedule = {"cron": "0 3 * * 1", "partitions": "daily"}
    assert policy_from({**SMALL, "source": source, "schedule": schedule}).source.named_partitions() == {
        key: mark
    }


def test_only_a_text_has_the_partition_of_a_table_of_spark() -> None:
    assert "table must be a text, not a list" in refused({"spark": {"table": ["a", "{partition}"]}})
    assert of({"spark": {"table": ["a", "b.c"]}}).source.spark.path_of_table == ("a", "b.c")


def test_an_asset_may_be_named_by_one_text() -> None:
    assert of({"asset": "customers"}).source.asset == ("customers",)


def test_a_budget_per_record_needs_files(small_policy: Small) -> None:
    """Of what a database gives for two partitions nobody can tell cheaply whether it is the same."""
    with pytest.raises(PolicyError, match=r"budget\.per: record needs \{partition\} in source\.path"):
        small_policy(
            source={"path": None, "sql": {"url_env": "A", "query": "SELECT :partition"}},
            schedule={"cron": "0 3 * * 1", "partitions": "daily"},
            budget={"epsilon": 4, "per": "record"},
        )


@pytest.mark.parametrize("place", [{"generate": "patients"}, {"url": "s3://bank/a.parquet"}])
def test_only_files_of_this_machine_can_be_demanded_encrypted(place: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="encrypted must be left out"):
        Source.model_validate({**place, "encrypted": True})
    assert Source.model_validate({"path": "a.parquet", "encrypted": True}).encrypted
