"""The sensor of a release: it asks for a run when the source file is new. It is off until it is turned on.

Each run of a policy with noise spends ε, also on a file that was only touched.
"""

import json
import time
from pathlib import Path
from typing import Any

import dagster as dg

from anon_pipeline.orchestration.names import release_job
from anon_pipeline.orchestration.resources import Folders
from anon_pipeline.policy.model import Policy

_SETTLED = 60  # seconds that a file must not have changed for: it may still be written
_OFTEN = 60  # seconds between two looks
_PARTITION = "{partition}"


def build_sensor(
    policy: Policy, job: Any, partitions: dg.TimeWindowPartitionsDefinition | None
) -> dg.SensorDefinition | None:
    """Return the sensor on a policy's source file; None without one file, or one for each partition."""
    path = policy.source.watched
    if path is None or (partitions is not None) != (_PARTITION in path):
        return None

    @dg.sensor(
        name=f"{policy.name}_new_files",
        job=job,
        minimum_interval_seconds=_OFTEN,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description=f"Asks for {release_job(policy)} when the source file is new. Each run may spend ε.",
    )
    def look(context: dg.SensorEvaluationContext, anon_folders: Folders) -> dg.SensorResult | dg.SkipReason:
        folders = anon_folders.locations()
        folders.confine(policy)
        known = json.loads(context.cursor or "{}")
        found = _changes(folders.sources, path, partitions)
        new = {key: changed for key, changed in found.items() if known.get(key) != changed}
        if not new:
            return dg.SkipReason("no source file is new")
        requests = [
            dg.RunRequest(run_key=f"{key}@{changed}", partition_key=key or None)
            for key, changed in sorted(new.items())
        ]
        return dg.SensorResult(requests, cursor=json.dumps(known | new))

    return look


def _changes(folder: Path, path: str, partitions: dg.TimeWindowPartitionsDefinition | None) -> dict[str, int]:
    """Return when each source file that is whole was changed, by the key of its partition; "" without one."""
    keys = [""] if partitions is None else partitions.get_partition_keys()
    found = {}
    for key in keys:
        try:
            changed = (folder / path.replace(_PARTITION, key)).stat().st_mtime_ns
        except OSError:
            continue
        if time.time() - changed / 1e9 >= _SETTLED:
            found[key] = changed
    return found
