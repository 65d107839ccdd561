"""Tables of Apache Iceberg in a policy: a catalog by its name, a whole name, one snapshot, no credentials."""

from __future__ import annotations

from typing import Any

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.iceberg import path_of
from tests.conftest import SMALL

CANARY = "Quillfeather-4711"
PLACE = {"catalog": "warehouse", "table": "shop.people"}


def of(**changes: Any) -> Policy:
    return policy_from({**SMALL, "source": {"iceberg": {**PLACE, **changes}}})


def test_a_table_is_named_by_a_text_or_a_list() -> None:
    assert path_of(of().source.place.table) == ("shop", "people")
    assert path_of(of(table=["shop", "a.b", "people"]).source.place.table) == ("shop", "a.b", "people")


def test_a_snapshot_is_as_long_as_the_library_makes_them() -> None:
    assert of(snapshot=2**63 - 1).source.place.snapshot == 2**63 - 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"table": "people"}, "must be the name of a table after its namespace"),
        ({"table": "people."}, "must be the name of a table after its namespace"),
        ({"table": ["people"]}, "must be the name of a table after its namespace"),
        ({"catalog": f"https://{CANARY}"}, "source.iceberg.catalog"),
        ({"catalog": "a__b"}, "source.iceberg.catalog"),
        ({"snapshot": 1, "ref": "main"}, "at most one of snapshot and ref must be given"),
        ({"snapshot": -1}, "source.iceberg.snapshot: must be at least 0"),
        ({"uri": f"https://{CANARY}"}, "source.iceberg.uri"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        of(**changes)
    assert said in str(caught.value)
    assert CANARY not in str(caught.value)


def test_the_snapshot_binds_the_private_tables_and_is_left_out_where_it_is_not_given() -> None:
    assert of().making != of(snapshot=1).making != of(snapshot=2).making
    assert of().model_dump(mode="json")["source"]["iceberg"] == PLACE
