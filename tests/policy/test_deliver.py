"""``publish.deliver``: exactly one destination, no credentials, and no digest changed without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.walks import binding_fields, named_paths, public_fields

Small = Callable[..., Policy]
GOOD: list[dict[str, Any]] = [
    {"url": "s3://bucket/prefix"},
    {"url_env": "PLACE"},
    {"database_env": "SHOP_URL", "table": "visits"},
    {"database_env": "SHOP_URL", "table": ["public", "visits"]},
    {"iceberg": {"catalog": "lake", "table": "shop.visits"}},
    {"delta": {"url": "s3://bucket/visits"}},
    {"delta": {"url_env": "PLACE"}},
    {"delta": {"path": "lake/visits"}},
]


@pytest.mark.parametrize("deliver", GOOD)
def test_a_destination_decides_no_private_table_and_is_not_public(
    small_policy: Small, deliver: dict[str, Any]
) -> None:
    policy, without = small_policy(publish={"deliver": deliver}), small_policy()
    assert policy.publish.deliver is not None
    assert policy.publish.deliver.kind == next(iter(deliver))
    assert policy.digest != without.digest
    assert binding_fields(policy) == binding_fields(without)
    assert public_fields(policy) == public_fields(without)
    found = [one for one in named_paths(policy) if not one.where.startswith("publish.deliver")]
    assert found == list(named_paths(without))
    (own,) = [one for one in named_paths(policy) if one not in found] or [None]
    assert (own and (own.where, own.folder)) == (
        ("publish.deliver.delta.path", "releases") if "path" in str(deliver) else None
    )


def test_without_one_the_document_is_what_it_was(small_policy: Small) -> None:
    document = small_policy().model_dump(mode="json")
    assert "deliver" not in document["publish"]
    assert policy_from(document).digest == small_policy().digest


def test_kinds_that_are_not_given_are_in_no_digest(small_policy: Small) -> None:
    document = small_policy(publish={"deliver": GOOD[1]}).model_dump(mode="json")
    assert document["publish"]["deliver"] == GOOD[1]


@pytest.mark.parametrize(
    ("deliver", "said"),
    [
        ({}, "exactly one of url, url_env, database_env, iceberg, delta"),
        ({"url": "s3://b/p", "url_env": "PLACE"}, "exactly one of"),
        ({"url": "s3://key:CANARY@b/p"}, "must not hold credentials"),
        ({"url": "s3://b/p?token=CANARY"}, "must not hold credentials"),
        ({"url": "https://host/CANARY"}, "must be a URL that begins with s3://"),
        ({"url": "file:///CANARY"}, "must be a URL that begins with s3://"),
        ({"url": "out"}, "must be a URL that begins with s3://"),
        ({"url_env": "s3://CANARY"}, "url_env"),
        ({"iceberg": {"catalog": "https://me:CANARY@lake", "table": "shop.visits"}}, "iceberg.catalog"),
        ({"iceberg": {"catalog": "lake", "table": "visits"}}, "iceberg.table: must be the name of a table"),
        ({"iceberg": GOOD[4]["iceberg"], "table": "visits"}, "table must be given with database_env"),
        ({"delta": {}}, "exactly one of path, url, url_env must be given"),
        ({"delta": {"url": "s3://key:CANARY@b/p"}}, "must not hold credentials"),
        ({"delta": {"path": "s3://CANARY/p"}}, "must be a local path"),
        ({"url": "s3://b/p", "delta": {"path": "a"}}, "exactly one of"),
        ({"delta": {"path": "a"}, "table": "visits"}, "table must be given with database_env"),
        ({"database_env": "SHOP_URL"}, "table must be given with database_env"),
        ({"url": "s3://b/p", "table": "visits"}, "table must be given with database_env"),
        ({"database_env": "SHOP_URL", "table": []}, "table must be a name"),
        ({"database_env": "SHOP_URL", "table": "anon_pipeline_releases"}, "table must be a name, and not"),
    ],
)
def test_what_is_refused_is_not_repeated(small_policy: Small, deliver: dict[str, Any], said: str) -> None:
    document = small_policy().model_dump(mode="json")
    document["publish"]["deliver"] = deliver
    with pytest.raises(PolicyError, match=said) as error:
        policy_from(document)
    assert "CANARY" not in str(error.value)
