"""Schema and lineage of the columns, as the policy has them."""

from __future__ import annotations

from collections.abc import Callable

import dagster as dg
import pandas as pd

from anon_pipeline.orchestration.table_columns import LINEAGE, SCHEMA
from anon_pipeline.stages.private import STAGES

Make = Callable[..., "Project"]  # noqa: F821 - conftest's


def test_each_table_has_its_columns_and_each_column_its_origin(
    project: Make, small_people: Callable[..., pd.DataFrame]
) -> None:
    email = {"email": {"role": "identifier", "action": "drop"}}
    made = project(small_people().assign(email="withheld"), columns=email)
    result = made.run("small_release")
    told = {
        stage: result.asset_materializations_for_node(f"small__{stage}")[0].metadata
        for stage in (*STAGES, "published")
    }
    for stage, metadata in told.items():
        schema = metadata[SCHEMA].value
        names = list(made.policy.columns) if stage == "raw" else made.policy.released
        assert [column.name for column in schema.columns] == names, stage
    raw = {column.name: (column.type, column.description) for column in told["raw"][SCHEMA].value.columns}
    assert raw["email"] == ("any", "identifier, drop")
    assert raw["height"] == ("number", "perturb, cm")
    released = pd.read_parquet(next(path for path in made.released() if path.suffix == ".parquet"))
    types = {column.name: column.type for column in told["published"][SCHEMA].value.columns}
    assert list(types) == list(released.columns)
    assert types["height"] == "double"
    before = dict(zip((*STAGES, "published"), (None, *STAGES), strict=True))
    assert LINEAGE not in told["raw"]
    for stage in (*STAGES[1:], "published"):
        deps = told[stage][LINEAGE].value.deps_by_column
        assert deps["height"] == [
            dg.TableColumnDep(asset_key=dg.AssetKey(["small", before[stage]]), column_name="height")
        ]
