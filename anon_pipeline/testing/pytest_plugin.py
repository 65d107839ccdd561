"""The plugin of pytest: the fixture `assert_releasable` and its setting. Imports wait until it is used."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from anon_pipeline.gate import GateReport

_POLICY = "anon_pipeline_policy"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the setting."""
    parser.addini(
        _POLICY, "Policy file of the fixture assert_releasable, relative to the rootdir.", default=""
    )


@pytest.fixture(scope="session")
def assert_releasable(pytestconfig: pytest.Config) -> Callable[..., GateReport]:
    """Return what asserts that a table may be released, see `anon_pipeline.testing.assert_releasable`.

    With ``anon_pipeline_policy`` in pytest's configuration the policy need not be given.
    """
    from anon_pipeline import testing  # noqa: PLC0415

    named = pytestconfig.getini(_POLICY)
    if not named:
        return testing.assert_releasable
    return partial(_with_default, policy=Path(pytestconfig.rootpath) / named)


def _with_default(table: object, given: object = None, /, *, policy: Path, **options: object) -> GateReport:
    """Assert by the policy that was given, else by that of the setting."""
    __tracebackhide__ = True
    from anon_pipeline import testing  # noqa: PLC0415

    return testing.assert_releasable(table, policy if given is None else given, **options)  # type: ignore[arg-type]
