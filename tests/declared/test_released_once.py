"""A second release of a dataset is refused where the kind allows one, and the ledger knows the first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from anon_pipeline.base.errors import GateRefused
from anon_pipeline.catalog.release_kinds import BUCKETIZED, RELEASE_KINDS
from anon_pipeline.declared.released_once import refuse_another


def asked(kind: Any, *, published: bool, ledger: bool = True) -> None:
    known = SimpleNamespace(has_published=lambda asked: published and asked == "people")
    booked = SimpleNamespace(ledger=known if ledger else None, asked="people")
    refuse_another(SimpleNamespace(kind=kind), booked)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", RELEASE_KINDS.values(), ids=str)
def test_of_bucketized_releases_there_is_one(kind: Any) -> None:
    asked(kind, published=False)
    asked(kind, published=True, ledger=False)
    if kind is not BUCKETIZED:
        asked(kind, published=True)
        return
    with pytest.raises(GateRefused, match="of this dataset is published"):
        asked(kind, published=True)
