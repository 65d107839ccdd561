"""The materialization of `published`, killed at each of its points; see `crashes`.

Belongs here: running Dagster's jobs in a child process, with an instance on disk. Does not belong here: what
must hold afterwards.
"""

from functools import cache
from pathlib import Path

import dagster as dg
import pytest

from anon_pipeline.orchestration.component import build_release
from anon_pipeline.stages.private import STAGES
from tests.adversarial.crashes import Way, World, at_each_point, kill, project
from tests.adversarial.dagster_engines import reuse_engines
from tests.adversarial.faulty_disk import FaultResult

__all__ = ["survive_dagster"]

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def survive_dagster(*, every: int = 1) -> FaultResult:
    """Kill the materialization of `published` at every point, after a first release, checks passed.

    What follows is `published` once more, as whoever retries it does, then the whole job.

    Args:
        every: 1 tries each point, n each n-th, from one of the first n on that is drawn.
    """
    with pytest.MonkeyPatch.context() as patch, project() as world:
        reuse_engines(patch)
        (world.folder / ".dagster").mkdir()
        assert _run("small_release", world)
        world.look()
        world.people(1)
        assert _run("private", world)
        return at_each_point(Way("kill, Dagster's published", _publish, _after, kill), world, every)


def _publish(world: World) -> None:
    _run("publish", world)


def _after(world: World) -> None:
    _publish(world)  # refused where the tables are gone already
    world.look()
    world.counted()
    world.people(7)
    before = len(world.ever)
    assert _run("small_release", world), "the next run failed"
    world.look()
    assert len(world.ever) == before + 1, "the next run did not publish"


def _run(job: str, world: World) -> bool:
    """Run a job on the instance in the project's folder; tell whether it succeeded."""
    with dg.DagsterInstance.local_temp(str(world.folder / ".dagster")) as instance:
        done = _jobs(world.folder)[job].execute_in_process(
            instance=instance, run_config=_QUIET, raise_on_error=False
        )
    return bool(done.success)


@cache
def _jobs(folder: Path) -> dict[str, dg.JobDefinition]:
    """Return the jobs: all, the private stages with their checks, `published` alone."""
    definitions = build_release(World(folder).policy, folder)
    keys = [dg.AssetKey(["small", stage]) for stage in STAGES]
    jobs = [
        dg.define_asset_job("private", dg.AssetSelection.assets(*keys)),
        dg.define_asset_job("publish", dg.AssetSelection.assets(dg.AssetKey(["small", "published"]))),
    ]
    merged = dg.Definitions.merge(definitions, dg.Definitions(jobs=jobs))
    return {job: merged.resolve_job_def(job) for job in ("private", "publish", "small_release")}
