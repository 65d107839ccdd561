"""How a stage fails in Dagster: by name, without a retry, without the data."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from anon_pipeline.base.errors import AnonPipelineError, GateRefused
from anon_pipeline.gate import GateReport
from anon_pipeline.orchestration.metadata import report_metadata


@contextmanager
def as_failure() -> Iterator[None]:
    """Turn a named error into a failure that is not retried.

    Raises:
        dagster.Failure: with the error's text, and the gate's report where it refused.
    """
    failure: dg.Failure | None = None
    try:
        yield
    except AnonPipelineError as error:
        report = error.report if isinstance(error, GateRefused) else None
        failure = dg.Failure(
            description=str(error),
            metadata=report_metadata(report) if isinstance(report, GateReport) else None,
            allow_retries=False,
        )
    if failure is not None:
        try:
            raise failure
        finally:
            failure.__context__ = None
