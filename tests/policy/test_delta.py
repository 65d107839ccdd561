"""Where a Delta Lake table lies: one place, no credentials, nothing repeated."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from anon_pipeline.policy.delta import STORES, DeltaDestination, DeltaSource

CANARY = "Quillfeather-4711"


@pytest.mark.parametrize("url", [f"{kind}://bucket/people" for kind in STORES])
def test_tables_in_object_stores(url: str) -> None:
    assert DeltaSource(url=url).url == DeltaDestination(url=url).url == url


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({}, "exactly one of path, url, url_env must be given"),
        ({"path": "a", "url": "s3://b/a"}, "exactly one of path, url, url_env must be given"),
        ({"path": f"s3://{CANARY}/a"}, "must be a local path, got a URL"),
        ({"url": f"s3://key:{CANARY}@b/a"}, "must not hold credentials"),
        ({"url": f"az://b/a?sig={CANARY}"}, "must not hold credentials"),
        ({"url": f"https://{CANARY}/a"}, "must be a URL that begins with s3://, gs://, az://"),
        ({"url": f"file:///{CANARY}"}, "must be a URL that begins with s3://"),
        ({"url": f"memory://{CANARY}"}, "must be a URL that begins with s3://"),
        ({"url_env": f"s3://{CANARY}"}, "should match pattern"),
        ({"path": "a", "version": -1}, "greater than or equal to 0"),
        ({"path": "a", "version": True}, "must be a number, got true"),
    ],
)
def test_what_is_refused_is_not_repeated(named: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        DeltaSource.model_validate(named)
    assert said in str(caught.value)
    assert CANARY not in str(caught.value)
    if "version" not in named:
        with pytest.raises(ValidationError, match=said):
            DeltaDestination.model_validate(named)
