"""The sensor of a release: it asks for a run when the source is new. It is off until it is turned on.

The source is a file or a folder, here or at a URL, or another place whose entry tells its versions apart.

Each run of a policy with noise spends ε, also on a file that was only touched.
"""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.orchestration.names import release_job
from anon_pipeline.orchestration.resources import Folders
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.change_guard import last_change
from anon_pipeline.windows.partition_order import in_order, partition_before, same_stream
from anon_pipeline.windows.window_states import window_states

_SETTLED = 60  # seconds that a file must not have changed for: it may still be written
_OFTEN = 60  # seconds between two looks
_LATEST = 10  # partitions of a place elsewhere that are looked at: each is a request
_PARTITION = "{partition}"


def build_sensor(
    policy: Policy, job: Any, partitions: dg.PartitionsDefinition | None
) -> dg.SensorDefinition | None:
    """Return the sensor on a policy's source.

    None unless it is a path or URL, one for each partition; or a place with versions, without partitions.
    """
    source = policy.source
    place = source.place if source.watched or source.kind.version else None
    marked = _PARTITION in place if isinstance(place, str) else bool(source.named_partitions())
    if place is None or (partitions is not None) != marked or (marked and not isinstance(place, str)):
        return None

    @dg.sensor(
        name=f"{policy.name}_new_files",
        job=job,
        minimum_interval_seconds=_OFTEN,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description=f"Asks for {release_job(policy)} when the source is new. Each run may spend ε.",
    )
    def look(context: dg.SensorEvaluationContext, anon_folders: Folders) -> dg.SensorResult | dg.SkipReason:
        """Ask for a run of each partition whose source has changed since the last look."""
        folders = anon_folders.locations()
        folders.confine(policy)
        known = json.loads(context.cursor or "{}")
        keys = [""] if partitions is None else partitions.get_partition_keys()
        if source.kind.version is None:
            found = _changes(folders.sources, place, keys)
        else:
            version = partial(import_entry(source.kind.version), folder=folders.sources)
            found = _versions(version, place, keys[-_LATEST:])
        new = {key: changed for key, changed in found.items() if known.get(key) != changed}
        if not new:
            return dg.SkipReason("no source is new" if found else "no source is there, or can be looked at")
        if policy.stream is not None:
            new, over = _next_windows(policy, folders, found, new)
            known |= over
            if not new:
                context.update_cursor(json.dumps(known))
                return dg.SkipReason("the partition before has not been made yet")
        requests = [
            dg.RunRequest(run_key=f"{key}@{changed}", partition_key=key or None)
            for key, changed in sorted(new.items())
        ]
        return dg.SensorResult(requests, cursor=json.dumps(known | new))

    return look


def _next_windows(
    policy: Policy, folders: Locations, found: dict[str, int | str], new: dict[str, int | str]
) -> tuple[dict[str, int | str], dict[str, int | str]]:
    """Return which new partitions of streams come next, and which come too late, since later ones were made.

    Args:
        found: all partitions whose source is there; a stream begins with the first of them.
        new: some of them.
    """
    known, following, over = window_states(policy, folders).partitions(), {}, {}
    for key, changed in new.items():
        made = same_stream(policy, key, known)
        first = same_stream(policy, key, found)[0]
        if (partition_before(policy, key) == made[-1]) if made else key == first:
            following[key] = changed
        elif made and in_order(policy, [key, made[-1]])[-1] == made[-1]:
            over[key] = changed
    return following, over


def _changes(folder: Path, path: str, keys: Sequence[str]) -> dict[str, int | str]:
    """Return the version of a source here, by the key of its partition; "" without one.

    Of a file that is the time of its change; of a folder also how many files it has. What has changed within
    the last minute is left out: it may still be written.
    """
    found: dict[str, int | str] = {}
    for key in keys:
        place = folder / path.replace(_PARTITION, key)
        try:
            when, files = last_change(place)
        except OSError:
            continue
        if files and time.time() - when / 1e9 >= _SETTLED:
            found[key] = f"{when}/{files}" if place.is_dir() else when
    return found


def _versions(version: Callable[[Any], str], place: Any, keys: Sequence[str]) -> dict[str, int | str]:
    """Return the version of each source elsewhere that is there, by the key of its partition."""
    found: dict[str, int | str] = {}
    for key in keys:
        with suppress(InputError):  # not there yet, or the place does not answer: the next look will show it
            found[key] = version(place.replace(_PARTITION, key) if isinstance(place, str) else place)
    return found
