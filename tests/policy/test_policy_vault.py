"""How long private tables stay is a section of its own, and changes no table."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import Policy


@pytest.mark.parametrize("kept", ["none", "last", 1, 365])
def test_retain_is_no_part_of_making(small_policy: Callable[..., Policy], kept: str | int) -> None:
    changed = small_policy(vault={"retain": kept})
    assert changed.vault.retain == kept
    assert changed.making == small_policy().making
    assert (changed.digest == small_policy().digest) == (kept == "last")


@pytest.mark.parametrize("kept", ["forever", "7", "", 0, -1, 1.5, True, []])
def test_other_retentions_are_refused(small_policy: Callable[..., Policy], kept: object) -> None:
    with pytest.raises(
        PolicyError,
        match=r"^vault\.retain: must be none, last or a whole number of days, at least 1, got [^\n]+$",
    ):
        small_policy(vault={"retain": kept})
