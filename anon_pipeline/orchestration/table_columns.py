"""What is reported to Dagster about the columns of a release: their schema and their source columns.

All of it follows from the policy, but for the types of the released file, which its manifest has.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import dagster as dg

from anon_pipeline.policy.model import Policy

SCHEMA, LINEAGE = "dagster/column_schema", "dagster/column_lineage"
_WHOLE = ("raw",)  # stages that still have every column of the input


def column_metadata(
    policy: Policy, stage: str, before: Iterable[str], types: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return schema and lineage of a stage's table under the names that Dagster's UI reads.

    Args:
        before: stages whose tables it takes; a column comes from the column of its name in each.
        types: of the columns of the released file; None: a private table, with the types that the policy
            declares.
    """
    names = [name for name in policy.columns if stage in _WHOLE or name in policy.released]
    columns = [dg.TableColumn(name, _type(policy, name, types), _role(policy, name)) for name in names]
    found: dict[str, Any] = {SCHEMA: dg.TableSchema(columns)}
    if upstream := [dg.AssetKey([policy.name, one]) for one in before]:
        deps = {
            name: [dg.TableColumnDep(asset_key=key, column_name=name) for key in upstream] for name in names
        }
        found[LINEAGE] = dg.TableColumnLineage(deps)
    return found


def _type(policy: Policy, name: str, types: Mapping[str, str] | None) -> str:
    if types is not None:
        return types[name]
    return "number" if name in policy.numeric else "any"


def _role(policy: Policy, name: str) -> str:
    """Say what a column is, and how it is protected, as the policy does."""
    column = policy.columns[name]
    more = [str(getattr(column, key)) for key in ("action", "unit") if getattr(column, key, None)]
    return ", ".join([column.role, *more])
