"""A release of a table that is too large for one: an asset that `divide --release` makes in its own process.

Belongs here: the asset, and how a project declares it. Does not belong here: how a table is divided and its
partitions are released, see `cli.dividing` and the package `division`.

Decision: docs/adr/0099-a-divided-release-is-one-asset.md.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import dagster as dg
from dagster import AssetExecutionContext

from anon_pipeline.base.child_processes import program_ending_with_this
from anon_pipeline.base.errors import GateRefused, InputError, PolicyError, PublishError, private_stage
from anon_pipeline.base.quiet import own_words
from anon_pipeline.limits.releases import REPEATED_NOISE, endless_schedule
from anon_pipeline.limits.table import limit_meaning
from anon_pipeline.limits.verdicts import Status
from anon_pipeline.orchestration.failures import as_failure
from anon_pipeline.orchestration.metadata import markdown_list
from anon_pipeline.orchestration.names import check_names
from anon_pipeline.orchestration.release_facts import link_to, path_within
from anon_pipeline.orchestration.resources import FOLDERS
from anon_pipeline.orchestration.stage import asset_declaration, run_options, stage_key
from anon_pipeline.orchestration.upstream import refuse_own_source
from anon_pipeline.policy import load_policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.collection.collection_document import COLLECTION, PAGE, read_collection

_REFUSED: Final = (1, 3)
"""Exit codes of `divide` that say something about the data."""
_REASONS: Final = ("error: ", "refused: ")
"""How lines begin with which the program says why it failed; none of them has a value of the data."""
_NAMED: Final = 5  # partitions that a check names
_WORST: Final = (Status.REFUSED, Status.UNMEASURED, Status.WARNED, Status.PASSED)


_WHERE: Final = (
    "What was measured: anon-pipeline vault measured POLICY --partition KEY --out FILE, with the policy of "
    "the partitions",
    "Why: anon-pipeline rehearse POLICY --partition KEY, with the policy of the partitions and their files, "
    "or the report of a partition",
)


@dataclass(frozen=True, slots=True)
class Divided:
    """How a table is divided for its release.

    policy_file: of the release, which `divide` reads; it writes the policy of each division next to it.
    parts: partitions; None: about one for each million records, and at least two.
    jobs: releases of partitions made at a time.
    """

    policy_file: Path
    parts: int | None = None
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class _Ended:
    """How `divide` ended.

    document: what it printed; None: nothing that can be read.
    why: the line that says why it failed, if there is one.
    """

    code: int
    document: Mapping[str, Any] | None
    why: str = ""


def published_divided(policy: Policy, divided: Divided, project: Path) -> dg.AssetsDefinition:
    """Return the release as one asset with a check for each limit, which says how it holds in the partitions.

    Raises:
        PolicyError: the policy has partitions, or cannot be divided for another reason; or its source is read
            by Dagster's own process.
    """
    from anon_pipeline.division.undividable import refuse_undividable  # noqa: PLC0415 - slow to import

    refuse_own_source(policy)
    if policy.schedule is not None and policy.schedule.partitions is not None:
        raise PolicyError("schedule.partitions: must be left out: the partitions are those of the division")
    refuse_undividable(policy)
    key, options = stage_key(policy, "published"), run_options(policy)
    del options["retry_policy"]  # Dagster also retries after an interrupt, and each division costs its ε

    @dg.multi_asset(**_declaration(policy), required_resource_keys={FOLDERS}, **options)
    def published_asset(
        context: AssetExecutionContext,
    ) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]:
        """Divide the table, release the partitions and collect them; show what their gates found."""
        with as_failure(policy), private_stage("published"):
            folders = getattr(context.resources, FOLDERS).locations()
            folders.confine(policy)
            _refuse_other_policy(policy, divided)
            ended = _run(context, divided, folders, project)
            releases = [] if ended.document is None else ended.document.get("releases", [])
            checks = list(_checks(policy, releases))
        yield from checks
        with as_failure(policy), private_stage("published"):
            found = _metadata(_complete(ended, releases), folders.releases)
        yield dg.MaterializeResult(asset_key=key, metadata=found)

    return published_asset


def _refuse_other_policy(policy: Policy, divided: Divided) -> None:
    """Refuse a policy file that was changed since Dagster has read it.

    Raises:
        InputError: another policy.
        PolicyError: none that can be read.
    """
    if load_policy(divided.policy_file).digest != policy.digest:
        raise InputError("the policy was changed since Dagster has read it. Reload the code location.")


def _declaration(policy: Policy) -> dict[str, Any]:
    """Return what the asset is declared with: as `published` in a chain, without tables that it takes."""
    said = "The releases of all partitions of a divided table, collected: each was judged by its own gate."
    named = asset_declaration(policy, "published", said, {})
    del named["ins"], named["deps"], named["partitions_def"]
    checks = [
        dg.AssetCheckSpec(name, asset=named["key"], description=limit_meaning(limit, policy))
        for limit, name in check_names(policy).items()
    ]
    return {"name": "__".join(named["key"].path), "specs": [dg.AssetSpec(**named)], "check_specs": checks}


def _run(context: AssetExecutionContext, divided: Divided, folders: Locations, project: Path) -> _Ended:
    """Start the command, show its progress, and wait for its end; it ends with this step in any case."""
    command = [sys.executable, "-c", program_ending_with_this(), "divide"]
    command += [str(divided.policy_file.absolute()), "--project", str(project)]
    command += ["--release", "--jobs", str(divided.jobs), "--json"]
    command += [] if divided.parts is None else ["--into", str(divided.parts)]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(  # noqa: S603 - ourselves
            command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, env=_environment(folders)
        ) as child,
        ThreadPoolExecutor(1) as reader,
    ):
        try:
            out = reader.submit(lambda: "" if child.stdout is None else child.stdout.read())
            why = ""
            for line in child.stderr or ():
                with own_words():
                    context.log.info(line.rstrip())
                why = line.strip() if line.startswith(_REASONS) else why
            said, code = out.result(), child.wait()
        finally:
            child.terminate()
            if child.returncode != 0:
                _tell_rest(context, child.stderr or (), folders)
    return _Ended(code, json.loads(said) if said.startswith("{") else None, why)


def _tell_rest(context: AssetExecutionContext, lines: Iterable[str], folders: Locations) -> None:
    """Log what the command says after it was ended, and where the commands that it prints must be run."""
    with own_words():
        for line in lines:
            context.log.info(line.rstrip())
        places = " ".join(f"{name}={shlex.quote(value)}" for name, value in _folders(folders).items())
        context.log.info(f"Commands that are printed here need these variables: {places}")


def _environment(folders: Locations) -> dict[str, str]:
    """Return the environment of the command: this process's, with the folders of Dagster's resource."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DAGSTER_PIPES_")}
    return kept | _folders(folders)


def _folders(folders: Locations) -> dict[str, str]:
    """Return the variables that name the folders of Dagster's resource."""
    named = {
        "SOURCES": str(folders.sources),
        "HIERARCHIES": str(folders.hierarchies),
        "RELEASES": str(folders.releases),
        "VAULT": folders.vault_place,
        "LEDGER": folders.ledger,
        "ALLOW_OUTSIDE": "yes" if folders.outside else "",
    }
    return {f"ANON_PIPELINE_{name}": value for name, value in named.items()}


def _closeness(document: Mapping[str, Any]) -> list[str]:
    """Say what t means in the partitions, where it is not what it is in a release of the whole table."""
    smaller = [
        f"{name}: t = {t:g} in each partition; so the policy's t holds for the whole table"
        for name, t in document["closeness"].items()
    ]
    apart = [
        f"{name}: t holds in each partition, and perhaps not for the whole table"
        for name in document["apart"]
    ]
    return smaller + apart


def _checks(policy: Policy, releases: Sequence[Mapping[str, Any]]) -> Iterator[dg.AssetCheckResult]:
    """Yield a check for each limit that partitions have judged: how the worst of them ended."""
    for limit, name in check_names(policy).items():
        by = dict[Status, list[str]]()
        for release in releases:
            for verdict in release["verdicts"]:
                if verdict["limit"] == limit:
                    by.setdefault(Status(verdict["status"]), []).append(release["partition"])
        if by:
            endless = endless_schedule(policy) if limit == REPEATED_NOISE.name else None
            yield _check(policy, name, by, endless)


def _check(
    policy: Policy, name: str, by: Mapping[Status, Sequence[str]], endless: str | None
) -> dg.AssetCheckResult:
    """Return the check of a limit.

    Args:
        by: partitions by how they were judged.
        endless: what the schedule of the release does, which partitions do not know; None: nothing.
    """
    many, worst = sum(map(len, by.values())), next(status for status in _WORST if status in by)
    these = by[worst]
    named = ", ".join(these[:_NAMED]) + (f" and {len(these) - _NAMED} more" if len(these) > _NAMED else "")
    said = f"passed in all {many} partitions"
    if worst is not Status.PASSED:
        said = f"{worst} in {len(these)} of {many} partitions: {named}. {_WHERE[worst is Status.WARNED]}"
    elif endless is not None:
        worst, said = Status.WARNED, endless
    return dg.AssetCheckResult(
        asset_key=stage_key(policy, "published"),
        check_name=name,
        passed=worst is Status.PASSED,
        severity=dg.AssetCheckSeverity.WARN if worst is Status.WARNED else dg.AssetCheckSeverity.ERROR,
        description=said,
        metadata={str(status): len(keys) for status, keys in by.items()},
    )


def _complete(ended: _Ended, releases: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return what `divide` says, unless a partition is not published, or they were not collected.

    Raises:
        GateRefused: partitions were refused, or the table cannot be divided within its limits.
        PublishError: anything else.
    """
    if ended.document is not None and ended.document.get("collected"):
        return ended.document  # perhaps files of partitions could not be removed, which the log says
    log = f"{ended.why} What `divide` said is in the log of this run.".lstrip()
    if ended.code in _REFUSED:
        left = [one["partition"] for one in releases if not one["published"]]
        said = f"partitions were refused: {', '.join(left)}" if left else "the release was refused"
        raise GateRefused(f"{said}. {log}")
    raise PublishError(f"The release was not made (exit code {ended.code}). {log}")


def _metadata(document: Mapping[str, Any], releases: Path) -> dict[str, Any]:
    """Return what the collection says of all partitions.

    Args:
        document: of `divide --release`.
        releases: folder of all releases.
    Raises:
        PublishError: the collection is not there, or lacks a partition.
    """
    folder, keys = Path(document["collected"]).absolute(), sorted(document["partitions"])
    collection = read_collection(folder)
    if collection is None or sorted(part["partition"] for part in collection["parts"]) != keys:
        raise PublishError("The collection must have each partition, and has not.")
    together = collection["together"]
    return {
        "records": together["released"],
        "dagster/row_count": together["released"],
        "records_released_share": together["released"] / max(together["records"], 1),
        "class_count": together["classes"],
        "class_size_least": together["smallest"],
        "partitions": len(keys),
        **({"closeness": markdown_list(closeness)} if (closeness := _closeness(document)) else {}),
        "folder": path_within(folder, releases),
        "collection": link_to(folder / COLLECTION, releases),
        "report": link_to(folder / PAGE, releases),
    }
