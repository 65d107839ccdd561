"""How a stage fails in Dagster: by name, without the data, retried only if a place did not answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg

from anon_pipeline.base.errors import AnonPipelineError, GateRefused
from anon_pipeline.gate import GateReport
from anon_pipeline.orchestration.metadata import markdown_list, refused_by, report_metadata
from anon_pipeline.policy.model import Policy


@contextmanager
def as_failure(policy: Policy | None = None) -> Iterator[None]:
    """Turn a named error into a failure that is retried only if a place did not answer.

    Args:
        policy: links each limit that refused to its check, see `refused_by`.
    Raises:
        dagster.Failure: with the error's text, and the gate's report where it refused.
    """
    failure: dg.Failure | None = None  # no retry draws again: a draw is sealed and booked before it is used
    try:
        yield
    except AnonPipelineError as error:
        refused = error if isinstance(error, GateRefused) else None
        failure = dg.Failure(
            description=str(error),
            metadata=None if refused is None else _refusal(refused, policy),
            allow_retries=error.passing,
        )
    if failure is not None:
        try:
            raise failure
        finally:
            failure.__context__ = None


def _refusal(refused: GateRefused, policy: Policy | None) -> dict[str, Any] | None:
    """Return the metadata of a refused release; None: the gate has not judged it."""
    report = refused.report
    if not isinstance(report, GateReport):
        return None
    linked = {} if policy is None or report.passed else {"refused_by": refused_by(report, policy)}
    advised = {"advice": markdown_list(refused.advice)} if refused.advice else {}
    return {**linked, **advised, **report_metadata(report)}
