"""What a process that Dagster Pipes has started reported of a release: how much of it Dagster believes.

The process judges and publishes, so Dagster cannot judge again. What it can do is refuse a report that is
incomplete or contradicts itself, the policy, or the manifest.

Decision: docs/adr/0083-a-release-made-elsewhere.md.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from anon_pipeline.base.errors import AnonPipelineError, GateRefused
from anon_pipeline.gate import GateReport, Status
from anon_pipeline.orchestration.metadata import shorten
from anon_pipeline.orchestration.names import check_names, gate_check_keys
from anon_pipeline.orchestration.pipes_report import DESCRIPTION
from anon_pipeline.orchestration.stage import stage_key
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.manifest.numbers import METADATA
from anon_pipeline.publish.writer import read_manifest

_DISTRUST = "What the process reported of the release is not accepted:"
_VERSIONS = "Both sides need the same policy, version and plugins."


@dataclass(frozen=True, slots=True, eq=False)
class Reported:
    """What a process reported: the gate's checks, by name, and the release that it published.

    release: None: it reported none.
    """

    checks: Mapping[str, dg.AssetCheckResult]
    release: dg.MaterializeResult[Any] | None

    @property
    def failed(self) -> list[str]:
        """Names of the checks that block, in order."""
        return sorted(name for name, check in self.checks.items() if not _lets_pass(check))

    @property
    def data_digests(self) -> set[str | None]:
        """Digests of the data that the checks were made on."""
        return {_text(check, "data_digest") for check in self.checks.values()}


def _lets_pass(check: dg.AssetCheckResult) -> bool:
    return check.passed or check.severity is dg.AssetCheckSeverity.WARN


def _text(result: dg.AssetCheckResult | dg.MaterializeResult[Any], key: str) -> str | None:
    """Return a text of the metadata; None if there is none, or it is something else."""
    found = getattr((result.metadata or {}).get(key), "value", None)
    return found if isinstance(found, str) else None


def accepted_results(
    results: Sequence[Any], policy: Policy, partition: str | None, *, more: Collection[str] = ()
) -> Reported:
    """Return what was reported, without metadata that a release does not have.

    Args:
        results: materializations and checks, as a Pipes client returns them.
        more: names of metadata that the client itself adds.
    Raises:
        GateRefused: another asset, an unknown check, one that was reported twice, another policy or
            partition, or checks on different data. No text of the process is in it.
    """
    checks = [each for each in results if isinstance(each, dg.AssetCheckResult)]
    releases = [each for each in results if isinstance(each, dg.MaterializeResult)]
    names, known = [str(check.check_name) for check in checks], _names(policy)
    unknown = sum(name not in known for name in names)
    problems = []
    if any(each.asset_key != stage_key(policy, "published") for each in results):
        problems.append(f"it is about another asset than {policy.name}/published.")
    if unknown:
        problems.append(f"{unknown} checks are none of this policy's. {_VERSIONS}")
    if len(set(names)) != len(names) or len(releases) > 1:
        problems.append("something was reported twice.")
    if any(_text(check, "policy_digest") != policy.digest for check in checks):
        problems.append(f"checks were made by another policy. {_VERSIONS}")
    if any(_text(check, "partition") != partition for check in checks):
        problems.append("checks are of another partition.")
    if len({_text(check, "data_digest") for check in checks}) > 1:
        problems.append("checks were made on different data.")
    _refuse(problems)
    return Reported(
        {str(check.check_name): _plain_check(check, policy, more) for check in checks},
        _plain_release(releases[0], policy, more) if releases else None,
    )


def _names(policy: Policy) -> set[str]:
    return {key.name for key in gate_check_keys(policy)}


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise GateRefused("\n".join([_DISTRUST, *problems]))


def _plain_check(check: dg.AssetCheckResult, policy: Policy, more: Collection[str]) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        asset_key=check.asset_key,
        check_name=check.check_name,
        passed=check.passed,
        severity=check.severity,
        description=_text(check, DESCRIPTION),
        metadata=_known_metadata(check.metadata, policy, more),
    )


def _plain_release(
    release: dg.MaterializeResult[Any], policy: Policy, more: Collection[str]
) -> dg.MaterializeResult[Any]:
    found = _known_metadata(release.metadata or {}, policy, more)
    return dg.MaterializeResult(asset_key=release.asset_key, metadata=found)


def _known_metadata(metadata: Mapping[str, Any], policy: Policy, more: Collection[str]) -> dict[str, Any]:
    """Return the metadata that a release has; a name of another may be a text of the data."""
    columns = {f"{begin}/{name}" for begin in ("level", "epsilon") for name in policy.columns}
    known = {*METADATA, *columns, *more}
    return {name: value for name, value in metadata.items() if name in known}


def refuse_failed(reported: Reported) -> None:
    """Refuse a release of which a blocking check failed.

    Raises:
        GateRefused: naming the checks.
    """
    if reported.failed:
        names = ", ".join(reported.failed)
        raise GateRefused(f"The gate refused the release: {names}. The checks say what to do.")


def refuse_incomplete(reported: Reported, policy: Policy) -> None:
    """Refuse a report of a process that ended well, unless it has every check and the release.

    Raises:
        GateRefused: naming the checks without a result.
    """
    missing, release = sorted(_names(policy) - reported.checks.keys()), reported.release
    problems = []
    if missing:
        problems.append(f"checks without a result: {', '.join(missing)}.")
    if None in reported.data_digests:
        problems.append("checks do not say which data they were made on.")
    if release is None:
        problems.append("no release was published.")
    elif reported.checks and not all(_begins(digest, release) for digest in reported.data_digests):
        problems.append("the release has other data than the checks.")
    _refuse(problems)


def _begins(digest: str | None, release: dg.MaterializeResult[Any]) -> bool:
    """Whether a release shows how a digest begins, see `metadata.report_metadata`."""
    shown = _text(release, "data_digest")
    return digest is not None and shown == shorten(digest)


def refuse_other_manifest(reported: Reported, policy: Policy, folder: Path, partition: str | None) -> None:
    """Refuse a release whose manifest is not there, or says something else than was reported.

    Args:
        folder: of the release.
    Raises:
        GateRefused: naming what differs; PublishError: the manifest cannot be read.
    """
    document = read_manifest(folder)
    if document is None:
        raise GateRefused(
            f"{_DISTRUST}\nthe folder of the release has no manifest. If the process publishes to a place "
            f"that Dagster cannot reach, set shared=False in Elsewhere."
        )
    expected = {
        "data_digest": next(iter(reported.data_digests)),
        "policy_digest": policy.digest,
        "release": policy.name,
        "partition": partition,
    }
    other = [name for name, value in expected.items() if document.get(name) != value]
    if not other and not _agrees(document, reported, policy):
        other = ["gate"]
    _refuse([f"the manifest has another {name}." for name in other])


def _agrees(document: Mapping[str, Any], reported: Reported, policy: Policy) -> bool:
    """Whether the manifest's verdicts are those of the checks."""
    try:
        verdicts = GateReport.from_json(document["gate"]).verdicts
    except (AnonPipelineError, ValueError, LookupError, TypeError, AttributeError):
        return False
    judged = {verdict.limit: verdict.status for verdict in verdicts}
    return judged == dict(_statuses(reported, policy))


def _statuses(reported: Reported, policy: Policy) -> Iterator[tuple[str, Status]]:
    for limit, name in check_names(policy).items():
        yield limit, Status.PASSED if reported.checks[name].passed else Status.WARNED
