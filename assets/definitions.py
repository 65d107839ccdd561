"""The code location: every release below `releases/`, with this deployment's resources.

Belongs here: loading and overriding. Does not belong here: any release (they are `defs.yaml` files).
"""

from pathlib import Path

import dagster as dg

from anon_pipeline.orchestration.guard import check_defs_below
from anon_pipeline.orchestration.resources import with_resources
from resources.deployment import deployment

ROOT = Path(__file__).resolve().parents[1]


@dg.definitions
def defs() -> dg.Definitions:
    """Load the releases and put this deployment's resources in the place of the defaults.

    Their files are weighed first: Dagster's own reader has no limits.
    *Materialize all* runs in one process, too: a process per step would take longer to start than to work.
    """
    check_defs_below(ROOT / "assets" / "releases")
    releases = with_resources(dg.load_from_defs_folder(path_within_project=ROOT), deployment(ROOT))
    return dg.Definitions.merge(releases, dg.Definitions(executor=dg.in_process_executor))
