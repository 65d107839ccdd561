"""Asserting in a test that a table may be released; `testing.pytest_plugin` makes it a fixture.

Belongs here: the gate as an assertion. Does not belong here: anything of pytest, which need not be installed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from anon_pipeline.gate import GateReport
    from anon_pipeline.policy import Policy

__all__ = ["assert_releasable"]


def assert_releasable(
    table: pd.DataFrame | str | os.PathLike[str],
    policy: Policy | str | os.PathLike[str],
    *,
    hierarchies: str | Path | None = None,
    allow_unmeasured: bool = False,
) -> GateReport:
    """Assert that the gate passes a released table, as `anon-pipeline check` judges it.

    Args:
        table: (r, columns) the released table, or its Parquet or CSV file.
        policy: the policy, or its file; of a file, an organization's `policy.defaults.yaml` holds, too.
        hierarchies: folder that tables of hierarchies are relative to. Default: the project of a policy's
            file, else the working folder.
        allow_unmeasured: whether limits may be left out that need the originals.
    Returns:
        The gate's report.
    Raises:
        AssertionError: each limit that is not kept or not measured, a line each; no cell of the table.
        InputError, PolicyError: table or policy cannot be read.
    """
    __tracebackhide__ = True
    from anon_pipeline.base.errors import private_stage  # noqa: PLC0415
    from anon_pipeline.base.project import project_root  # noqa: PLC0415
    from anon_pipeline.gate import Status, evaluate  # noqa: PLC0415
    from anon_pipeline.policy import Policy, load_policy  # noqa: PLC0415
    from anon_pipeline.publish.file_formats import read_release  # noqa: PLC0415

    folder = Path(hierarchies or ".")
    if not isinstance(policy, Policy):
        folder = Path(hierarchies or project_root(Path(policy)))
        policy = load_policy(Path(policy))
    with private_stage("check"):
        frame = read_release(Path(table), policy) if isinstance(table, (str, os.PathLike)) else table
        report = evaluate(frame, policy, hierarchies=folder)
    allowed = (Status.UNMEASURED,) if allow_unmeasured else ()
    failed = [verdict.as_text(at_hand=True) for verdict in report.unkept if verdict.status not in allowed]
    if failed:
        raise AssertionError("\n".join([f"not releasable by {policy.name}:", *failed]))
    return report
