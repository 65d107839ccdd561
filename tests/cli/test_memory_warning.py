"""A table that needs more memory than there is: a warning, and the release goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anon_pipeline.base import available_memory
from anon_pipeline.cli.memory_warning import LITTLE_MEMORY
from tests.cli.projects import Folder


@pytest.mark.parametrize(("free", "warns"), [(2**20, True), (2**40, False), (None, False)])
@pytest.mark.parametrize("command", ["run", "rehearse"])
def test_too_little_memory_is_said(
    folder: Callable[..., Folder],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    free: int | None,
    *,
    warns: bool,
) -> None:
    monkeypatch.setattr(available_memory, "available_memory", lambda: free)
    done = folder().call(command, "policy.yaml")
    assert done.code == 0
    assert (f"warning: {LITTLE_MEMORY}\n" in done.err) is warns
