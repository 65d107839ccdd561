"""What Dagster shows of a published release: numbers with a history, what is left of the data, links.

Every key is declared in `METADATA` in `publish.manifest.numbers`: the released file, the policy and counts
of records tell all of it. A number becomes a plot over releases in Dagster's UI.
"""

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import dagster as dg

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.base.places import has_credentials, is_url
from anon_pipeline.encode.grids import epsilon_shares
from anon_pipeline.evidence.evidence import value_classes
from anon_pipeline.orchestration.metadata import report_metadata, sizes_table
from anon_pipeline.orchestration.table_columns import column_metadata
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish import Published
from anon_pipeline.publish.file_formats import column_types
from anon_pipeline.report import class_sizes
from anon_pipeline.report.columns import discernibility
from anon_pipeline.report.words import describe_rest, noise_in_words

LINKS = "ANON_PIPELINE_RELEASES_URL"
"""Names the variable with the URL at which the folder of releases is served, for links in Dagster's UI."""


def published_metadata(
    policy: Policy, folders: Locations, written: Published, frame: Table
) -> dict[str, Any]:
    """Return the metadata of a release that was written.

    Args:
        frame: (r, columns) the released table, also with private columns, which are left out.
    Raises:
        InputError: `LINKS` is no URL, or may hold credentials.
    """
    shown, facts = frame[policy.released], written.manifest["facts"]
    file = written.manifest["files"][0]
    left = describe_rest(policy, facts, shown, hierarchies=folders.hierarchies)
    types = file.get("types") or column_types(shown)
    paths = {"file": written.path, "manifest": written.manifest_path, "report": written.report_path}
    return {
        **report_metadata(written.report),
        **{name: link_to(path, folders.releases) for name, path in paths.items()},
        "data_files": len(written.paths),
        "folder": path_within(written.path.parent, folders.releases),
        **_numbers(policy, written, shown),
        "guarantee": _markdown_list(written.manifest["guarantee"]),
        "left": _markdown_list(left),
        "noise": _markdown_list([f"{name}: {said}" for name, said in noise_in_words(policy)]),
        "classes": sizes_table(class_sizes(policy, shown)),
        **column_metadata(policy, "published", ["suppressed"], types),
    }


def _numbers(policy: Policy, written: Published, shown: Table) -> dict[str, int | float]:
    """Return what has a history: records, classes, levels, loss and noise."""
    sizes = value_classes(shown, list(policy.generalized)).sizes
    facts = written.manifest["facts"]
    levels = facts["k_anonymized"]["levels"] or {}
    shares = zip(policy.noisy, epsilon_shares(policy), strict=True)
    return {
        "records": len(shown),
        "dagster/row_count": len(shown),
        "records_released_share": len(shown) / max(int(facts["raw"]["records"]), 1),
        "class_count": len(sizes),
        "class_size_least": int(sizes.min()),
        "class_size_mean": float(sizes.mean()),
        "loss/discernibility": discernibility(policy, shown),
        **{f"level/{name}": int(level) for name, level in levels.items()},
        **{f"epsilon/{name}": float(share) for name, share in shares},
    }


def _markdown_list(lines: list[str]) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md("\n".join(f"* {line}" for line in lines))


def link_to(path: Path, releases: Path) -> dg.MetadataValue[Any]:
    """Return a file's name, as a link if the releases are served somewhere."""
    base = links_base()
    if base is None or not path.is_relative_to(releases):
        return dg.MetadataValue.text(path.name)
    return dg.MetadataValue.md(f"[{path.name}]({base}/{quote(path.relative_to(releases).as_posix())})")


def path_within(folder: Path, releases: Path) -> str:
    """Return a release's folder as ``publish.to`` says it: a long path cuts off the rest in Dagster's UI."""
    return folder.relative_to(releases).as_posix() if folder.is_relative_to(releases) else str(folder)


def links_base() -> str | None:
    """Return the URL of the folder of releases, if there is one; asked before anything is published.

    Raises:
        InputError: it is no URL, or may hold credentials; without it.
    """
    base = os.environ.get(LINKS)
    if base and (not is_url(base) or has_credentials(base)):
        raise InputError(f"{LINKS} must be a URL without login, query and token")
    return base.rstrip("/") if base else None
