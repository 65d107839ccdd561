"""The demo: the release `patients` through Dagster, in one process, on an instance that is thrown away."""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from anon_pipeline.base.errors import GateRefused, PublishError
from anon_pipeline.base.observer import Observer, Step
from anon_pipeline.gate import GateReport
from anon_pipeline.orchestration.component import build_release
from anon_pipeline.orchestration.names import release_job
from anon_pipeline.orchestration.resources import FOLDERS, Folders
from anon_pipeline.policy import parse_policy
from anon_pipeline.policy.templates import template
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.writer import read_manifest
from anon_pipeline.vault.git_ignore import ignore_vault
from anon_pipeline.vault.names import measured_name

_PROGRESS = "progress"


@dataclass(frozen=True, slots=True)
class Made:
    """Where a release is, and what the gate said of it; ``measured``: the name of all that in the vault."""

    path: Path
    manifest_path: Path
    report_path: Path
    report: GateReport
    measured: str


def materialize_demo(project: Path, *, observe: Observer) -> Made:
    """Materialize the release `patients` with all its checks.

    Args:
        project: folder that releases and vault are below.
        observe: called when an asset begins.
    Raises:
        GateRefused: a check failed, or the gate refused.
    """
    if any((project / name).exists() for name in (".git", ".gitignore")):
        ignore_vault(project)
    policy = parse_policy(template("patients"))
    logging_to = dg.Definitions(loggers={_PROGRESS: _progress_logger(observe)})
    definitions = dg.Definitions.merge(build_release(policy, project), logging_to)
    with _instance() as instance:
        result = definitions.resolve_job_def(release_job(policy)).execute_in_process(
            instance=instance, raise_on_error=False, run_config={"loggers": {_PROGRESS: {}}}
        )
    folders = (definitions.resources or {})[FOLDERS]
    if not result.success or not isinstance(folders, Folders):
        raise GateRefused("; ".join(_failures(result)))
    folder = folders.locations().release(policy)
    document = read_manifest(folder)
    if document is None:
        raise PublishError("the release must have a manifest, got none")
    report = GateReport.from_json(document["gate"])
    return Made(
        path=folder / document["files"][0]["name"],
        manifest_path=folder / MANIFEST,
        report_path=folder / document["report"]["name"],
        report=report,
        measured=measured_name(policy.name, None),
    )


@contextmanager
def _instance() -> Iterator[dg.DagsterInstance]:
    """Open an instance in a temporary folder, without telemetry."""
    with tempfile.TemporaryDirectory(prefix="anon_pipeline_") as folder:
        (Path(folder) / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
        with dg.DagsterInstance.from_config(folder) as instance:
            yield instance


def _progress_logger(observe: Observer) -> dg.LoggerDefinition:
    """Return a logger that reports which asset begins, and nothing else."""

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            """Report a step that begins."""
            meta = getattr(record, "dagster_meta", {})
            event = meta.get("dagster_event")
            if event is not None and event.event_type is dg.DagsterEventType.STEP_START:
                observe(Step(str(event.step_key).replace("__", "/")))

    @dg.logger
    def progress(_: dg.InitLoggerContext) -> logging.Logger:
        logger = logging.Logger(_PROGRESS, logging.DEBUG)
        logger.addHandler(Handler())
        return logger

    return progress


def _failures(result: dg.ExecuteInProcessResult) -> list[str]:
    lines = []
    for event in result.all_events:
        if event.is_step_failure and event.step_failure_data.error is not None:
            lines.append(f"{event.step_key}: {event.step_failure_data.error.message.strip()}")
    return lines or ["the run failed"]
