"""A release of an upstream asset, through its IO manager; of a table of Spark, by a resource's session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pyarrow as pa
import pytest
from upath import UPath

from anon_pipeline.orchestration.component import build_release
from anon_pipeline.orchestration.resources import active_session, with_resources
from anon_pipeline.orchestration.upstream import SPARK, spark_keys
from anon_pipeline.policy import Policy
from tests.projects import Project
from tests.spark_cluster import Cluster, in_catalog

CANARY = "Quillfeather-4711"
KEY = dg.AssetKey(["warehouse", "customers"])
Small = Callable[..., Policy]


def polars(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("polars", reason="needs polars (extra dev)").from_pandas(frame)


class ParquetManager(dg.UPathIOManager):
    """An IO manager as somebody may write one: a file of Parquet for each asset and partition."""

    extension = ".parquet"

    def dump_to_path(self, context: dg.OutputContext, obj: pd.DataFrame, path: Any) -> None:
        obj.to_parquet(path)

    def load_from_path(self, context: dg.InputContext, path: Any) -> pd.DataFrame:
        return pd.read_parquet(path)


class BrokenManager(dg.IOManager):
    """One whose errors quote a cell."""

    def handle_output(self, context: dg.OutputContext, obj: object) -> None:
        """Keep nothing."""

    def load_input(self, context: dg.InputContext) -> object:
        raise ValueError(f"could not read {CANARY}")


@pytest.fixture
def make(tmp_path: Path, small_policy: Small) -> Iterator[Callable[..., Project]]:
    """Make a project whose release has an upstream asset, and what else the definitions hold."""
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:

        def made(value: object, manager: Any = None, **changes: Any) -> Project:
            partitions = changes.pop("partitions", None)

            @dg.asset(key=KEY, io_manager_key="own" if manager else None, partitions_def=partitions)
            def customers() -> object:
                return value

            policy = small_policy(source={"path": None, "asset": ["warehouse", "customers"]}, **changes)
            theirs = dg.Definitions(
                assets=[customers],
                jobs=[dg.define_asset_job("upstream", [customers])],
                resources={"own": manager} if manager else {},
            )
            folder = tmp_path / "project"
            folder.mkdir()
            return Project(
                folder, policy, dg.Definitions.merge(build_release(policy, folder), theirs), instance
            )

        yield made


@pytest.mark.parametrize(
    "of", [lambda frame: frame, pa.Table.from_pandas, polars], ids=["pandas", "arrow", "polars"]
)
def test_a_release_of_an_asset_of_each_library(
    make: Callable[..., Project], small_people: Callable[..., pd.DataFrame], of: Any
) -> None:
    made = make(of(small_people()))
    assert made.run("upstream").success
    result = made.run("small_release")
    assert result.success
    assert made.released()


def test_it_is_a_dependency_and_its_own_io_manager_reads_it(
    make: Callable[..., Project], small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    made = make(small_people(), ParquetManager(UPath(tmp_path / "theirs")))
    graph = made.definitions.resolve_asset_graph()
    assert graph.get(dg.AssetKey(["small", "raw"])).parent_keys == {KEY}
    assert made.run("upstream").success
    assert list((tmp_path / "theirs").rglob("*.parquet"))
    assert made.run("small_release").success


def test_the_partition_of_the_run_is_read(
    make: Callable[..., Project], small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    days = dg.DailyPartitionsDefinition("2026-01-01")
    schedule = {"cron": "0 3 * * 1", "partitions": "daily"}
    made = make(small_people(), partitions=days, schedule=schedule)
    assert made.run("upstream", partition="2026-01-05").success
    assert made.run("small_release", partition="2026-01-05").success
    assert all(path.parent.name == "2026-01-05" for path in made.released())
    failed = made.run("small_release", partition="2026-01-06")
    assert not failed.success
    assert "warehouse/customers is not" in _said(failed)


def _said(result: dg.ExecuteInProcessResult) -> str:
    return "\n".join(str(event) for event in result.all_events)


def test_an_asset_that_is_not_materialized_is_named(make: Callable[..., Project]) -> None:
    failed = make(None).run("small_release")
    assert not failed.success
    assert "source.asset: must be materialized, and readable by its IO manager" in _said(failed)


def test_what_an_io_manager_says_is_not_in_the_event_log(make: Callable[..., Project]) -> None:
    failed = make(None, BrokenManager()).run("small_release")
    assert not failed.success
    assert "warehouse/customers is not: ValueError" in _said(failed)
    assert CANARY not in _said(failed)


def test_a_partitioned_asset_is_no_table_for_a_release_in_one_piece(
    make: Callable[..., Project], small_people: Callable[..., pd.DataFrame]
) -> None:
    made = make(small_people(), partitions=dg.StaticPartitionsDefinition(["a", "b"]))
    for partition in ("a", "b"):
        assert made.run("upstream", partition=partition).success
    failed = made.run("small_release")
    assert not failed.success
    assert "source.asset: must be" in _said(failed)


@pytest.fixture
def of_spark(tmp_path: Path, small_policy: Small) -> Iterator[Callable[..., Project]]:
    """Make a project whose release has a table of Spark as source, and a resource with a session, or none."""
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:

        def made(resources: dict[str, Any], **wanted: Any) -> Project:
            policy = small_policy(source={"path": None, "spark": wanted})
            folder = tmp_path / "project"
            folder.mkdir()
            definitions = with_resources(build_release(policy, folder), resources)
            return Project(folder, policy, definitions, instance)

        yield made


class Wrapped(dg.ConfigurableResource[Any]):
    """A resource as that of `dagster-pyspark`, which has the session as an attribute."""

    url: str

    @property
    def spark_session(self) -> Any:
        from pyspark.sql.connect.session import SparkSession

        return SparkSession.builder.remote(self.url).getOrCreate()


def test_a_release_of_a_table_of_spark_by_the_session_of_a_resource(
    of_spark: Callable[..., Project],
    small_people: Callable[..., pd.DataFrame],
    spark: Cluster,
    tmp_path: Path,
) -> None:
    wrapped = Wrapped(url=spark.connect)
    made = of_spark({SPARK: wrapped}, table=in_catalog(spark, tmp_path, pa.Table.from_pandas(small_people())))
    result = made.run("small_release")
    assert result.success
    assert made.released()
    session = wrapped.spark_session
    assert not session.is_stopped  # it is the deployment's
    session.stop()


def test_what_spark_says_is_not_in_the_event_log(
    of_spark: Callable[..., Project], spark: Cluster, capfd: pytest.CaptureFixture[str]
) -> None:
    wrapped = Wrapped(url=spark.connect)
    made = of_spark({SPARK: wrapped}, query=f"SELECT cast(concat('{CANARY}', id) AS int) FROM range(3)")
    failed = made.run("small_release")
    wrapped.spark_session.stop()
    assert not failed.success
    assert "source.spark: the table or query could not be read: CAST_INVALID_INPUT" in _said(failed)
    assert CANARY not in _said(failed)
    assert CANARY not in "".join(capfd.readouterr())


def test_a_resource_that_fails_is_named_and_its_text_withheld(of_spark: Callable[..., Project]) -> None:
    class Broken:
        """A resource whose session cannot be opened."""

        @property
        def spark_session(self) -> None:
            raise ValueError(CANARY)

    made = of_spark({SPARK: dg.ResourceDefinition.hardcoded_resource(Broken())}, table="people")
    failed = made.run("small_release")
    assert not failed.success
    assert "the resource anon_spark could not give a session: ValueError" in _said(failed)
    assert CANARY not in _said(failed)


def test_a_resource_that_is_no_session_is_named(of_spark: Callable[..., Project]) -> None:
    made = of_spark({SPARK: dg.ResourceDefinition.hardcoded_resource(CANARY)}, table="people")
    failed = made.run("small_release")
    assert "the resource anon_spark must be a Spark session, or have one as spark_session, got str" in _said(
        failed
    )
    assert CANARY not in _said(failed)


@pytest.mark.usefixtures("pyspark")
def test_without_a_session_the_resource_is_named(of_spark: Callable[..., Project]) -> None:
    made = of_spark({}, table="people")
    assert made.definitions.resources[SPARK] is active_session()
    failed = made.run("small_release")
    assert not failed.success
    assert "no Spark session is active" in _said(failed)


def test_only_raw_needs_a_session_and_only_without_a_url(small_policy: Small) -> None:
    own = small_policy(source={"path": None, "spark": {"table": "people"}})
    by_url = small_policy(source={"path": None, "spark": {"table": "people", "url_env": "OWN_SPARK"}})
    assert [spark_keys(own, stage) for stage in ("raw", "deidentified")] == [{SPARK}, set()]
    assert spark_keys(by_url, "raw") == spark_keys(small_policy(), "raw") == set()
