"""The command that makes a release's report anew, or the internal one: `report`."""

from __future__ import annotations

from pathlib import Path

import click

from anon_pipeline.cli.options import (
    NEW_FILE,
    json_option,
    open_policy,
    policy_option,
    project_options,
    release_argument,
    show_values_option,
)
from anon_pipeline.cli.shared import PRIVATE, echo_json, write_file
from anon_pipeline.cli.withdrawals import print_withdrawal, warning_documents


@click.command()
@release_argument
@policy_option("The policy that made it. Default: its public part, which is stored with the release.")
@click.option(
    "--internal",
    is_flag=True,
    help="Compare the release with the private tables, which must still be in the vault: Dagster keeps them "
    "there, `run` does not. Keep it private.",
)
@click.option(
    "--out",
    type=NEW_FILE,
    help="File to write. Default: <name>-report.html or <name>-internal.html in this folder.",
)
@project_options
@show_values_option
@json_option
def report(  # noqa: PLR0913 - the options of a command
    *,
    release: Path,
    policy_file: Path | None,
    internal: bool,
    out: Path | None,
    project: Path | None,
    allow_outside: bool,
    as_json: bool,
) -> None:
    """Make the report of a release, as one HTML file.

    RELEASE is its folder or its manifest.

    The public report is already published with the manifest, unless the release was made before there were
    reports. It is made again of what is public of the policy, where --policy is left out or has moved on. The
    internal report shows each column before and after. It is for the curator alone, and needs --policy.
    """
    from anon_pipeline.base.errors import InputError, private_stage  # noqa: PLC0415
    from anon_pipeline.publish.internal_report import internal_report_of  # noqa: PLC0415
    from anon_pipeline.publish.verify.verify import Against, verified_table  # noqa: PLC0415
    from anon_pipeline.publish.verify.verify_policy import policy_of_release, whole_policy  # noqa: PLC0415
    from anon_pipeline.report import public_report  # noqa: PLC0415

    given, locations = None, None
    if policy_file is not None:
        given, locations = open_policy(policy_file, project, outside=allow_outside, retired=True)
    with private_stage("report"):
        policy = given if internal and given is not None else policy_of_release(release, given)
        whole = whole_policy(policy)
        hierarchies = Path() if locations is None else locations.hierarchies
        document, frame = verified_table(release, Against(whole, hierarchies))
        path = new_page(out or Path(f"{policy.name}-{'internal' if internal else 'report'}.html"), release)
        if not internal:
            page = public_report(policy, document, frame)
        elif whole is None or locations is None:
            raise InputError("the internal report must be made with the policy of the release: --policy")
        else:
            page = internal_report_of(whole, document, locations)
        write_page(path, page, private=internal)
        warnings = [] if locations is None else print_withdrawal(release, locations)
    if whole is None:
        click.echo(_IN_PART, err=True)
    if as_json:
        said = warning_documents(warnings)
        echo_json({"report": str(path), "internal": internal, "warnings": said})
    else:
        click.echo(f"report    {path}")
    if internal:
        click.echo(PRIVATE, err=True)


_IN_PART = (
    "Made from the public part of its policy, which is stored with the release: values that the policy lists "
    "are not named."
)


def new_page(path: Path, release: Path) -> Path:
    """Return where a page may be written.

    Args:
        release: folder of a release, or its manifest: readers take what is there for published.
    Raises:
        InputError: it is in that folder, no .html file by its name, or its folder is not there.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    folder = release if release.suffix != ".json" else release.parent
    if path.suffix != ".html":
        raise InputError("the report's file name must end in .html")
    if not path.absolute().parent.is_dir():
        raise InputError("the report must go to an existing folder")
    if path.resolve().is_relative_to(folder.resolve()):
        raise InputError("the report must not go to the release's folder: what is there counts as published")
    return path


def write_page(path: Path, page: bytes, *, private: bool) -> None:
    """Write a page, complete or not at all; a private one for its owner alone, and ignored by git.

    Raises:
        InputError: it cannot be written.
    """
    from anon_pipeline.draft.private_files import write_private  # noqa: PLC0415

    if private:
        write_private(path, page)
    else:
        write_file(path, page, what="page", private=False)
