"""The command that makes one hierarchy for a column, or checks one: `hierarchy`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.options import NEW_FILE, data_argument, json_option, open_policy, show_values
from anon_pipeline.cli.shared import PRIVATE, echo_json, shows_values

if TYPE_CHECKING:
    from rich.tree import Tree

    from anon_pipeline.base.places import TableUrl
    from anon_pipeline.draft.profile.hierarchy_check import CheckedHierarchy, Node
    from anon_pipeline.draft.profile.look import Look

_SHOWN = 50  # values that are no leaf, on a terminal


@click.command()
@data_argument
@click.argument("column", metavar="COLUMN")
@click.option(
    "--table",
    type=NEW_FILE,
    help="Check this table (leaf;level 1;…;top) instead of proposing a hierarchy.",
)
@click.option(
    "--policy",
    "policy_file",
    type=NEW_FILE,
    help="Check the hierarchy that this policy has for COLUMN.",
)
@click.option(
    "--to",
    "target",
    type=NEW_FILE,
    help="Write a proposed table, to be edited. It has values: 0600.",
)
@click.option(
    "--not-leaves",
    type=NEW_FILE,
    help="Write the values that are no leaf, a line each: 0600.",
)
@show_values("the values in the tree and those that are no leaf; they are data")
@json_option
@click.pass_context
def hierarchy(
    ctx: click.Context, /, data: Path | TableUrl, column: str, *, as_json: bool, **options: Any
) -> None:
    """Make a hierarchy for COLUMN of DATA, or check one: values that it lacks, its levels, its tree.

    Values are shown with --show-values on a terminal alone. Exit code 2: some value is no leaf.

    DATA is a table's file, its URL (s3://, gs://, az://, https://), or a YAML file with the section
    source of a policy.
    """
    from anon_pipeline.base.errors import InputError, private_stage  # noqa: PLC0415
    from anon_pipeline.draft.profile.hierarchy_check import check_hierarchy, draw_tree  # noqa: PLC0415

    if options["table"] is not None and options["policy_file"] is not None:
        raise InputError("--table and --policy must not be given together: name one hierarchy")
    look = _look(data, column)
    spec, folder, said = _spec(look, options)
    with private_stage("hierarchy"):
        checked = check_hierarchy(look, spec, folder=folder)
    if as_json:
        _write_not_leaves(checked, options["not_leaves"])
        echo_json(_document(checked, said))
    else:
        click.echo("\n".join(said), nl=bool(said))
        shown = shows_values(ctx)
        _print_levels(checked)
        tree = draw_tree(checked)
        if tree is not None:
            _print_tree(tree, shown=shown)
        _tell_not_leaves(checked, options["not_leaves"], shown=shown)
    click.echo(PRIVATE, err=True)
    if checked.not_leaves:
        ctx.exit(InputError.exit_code)


def _look(data: Path | TableUrl, column: str) -> Look:
    """Return the column, as it is read."""
    from anon_pipeline.base.errors import InputError, private_stage  # noqa: PLC0415
    from anon_pipeline.draft.profile.look import look_at  # noqa: PLC0415
    from anon_pipeline.draft.profile.source_file import read_given  # noqa: PLC0415

    frame = read_given(data).frame
    if column not in frame.columns:
        raise InputError(f"{data.name}: must have the column that is named, got {len(frame.columns)} others")
    with private_stage("profile"):
        return look_at(frame[column])


def _document(checked: CheckedHierarchy, said: list[str]) -> dict[str, Any]:
    """Return what is printed otherwise, as JSON types: counts, no value."""
    sizes = checked.level_sizes
    return {
        "proposed": said,
        "levels": [{"values": values, "least": least, "most": most} for values, least, most in sizes],
        "not_leaves": len(checked.not_leaves),
        "records_lacking": checked.lacking,
    }


def _spec(look: Look, options: dict[str, Any]) -> tuple[Any, Path, list[str]]:
    """Return the hierarchy to check, the folder of its table, and what is said of a proposed one."""
    from anon_pipeline.policy.hierarchies import Table  # noqa: PLC0415

    if options["table"] is not None:
        return Table(table=options["table"].name), options["table"].parent, []
    if options["policy_file"] is not None:
        return (*_of_policy(look.seen.name, options["policy_file"]), [])
    return _propose(look, options["target"])


def _of_policy(name: str, policy_file: Path) -> tuple[Any, Path]:
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    policy, locations = open_policy(policy_file, None)
    spec = getattr(policy.columns.get(name), "hierarchy", None)
    if spec is None:
        raise InputError(f"{policy_file.name}: must have a hierarchy for the column that is named, got none")
    return spec, locations.hierarchies


def _propose(look: Look, target: Path | None) -> tuple[Any, Path, list[str]]:
    """Propose a hierarchy, say what a policy says of it, and write its table where it is asked for."""
    import json  # noqa: PLC0415

    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.catalog.detectors.name_hints import find_hint  # noqa: PLC0415
    from anon_pipeline.draft.private_files import refuse_other_tables, write_table  # noqa: PLC0415
    from anon_pipeline.draft.profile.proposed_hierarchies import propose_hierarchy  # noqa: PLC0415
    from anon_pipeline.policy.hierarchies import Table  # noqa: PLC0415

    found = propose_hierarchy(look, find_hint(look.seen.name))
    if found is None:
        raise InputError(
            "no hierarchy can be proposed: free text, or too many different values. Write a table."
        )
    spec: Any = found.spec
    if not found.rows:
        written = json.dumps(spec.model_dump(mode="json", exclude_unset=True), ensure_ascii=False)
        return spec, Path(), [found.reason, f"hierarchy: {written}"]
    if target is None:
        said = "hierarchy: a table of its categories; --to FILE writes it, to be edited (private)"
        return found.as_tree(), Path(), [found.reason, said]
    refuse_other_tables({target: found.rows})
    write_table(target, found.rows)
    said = f"wrote {target} (private: it has values; edit it, then check it with --table)"
    return Table(table=target.name), target.parent, [found.reason, said]


def _print_levels(checked: CheckedHierarchy) -> None:
    """Print how many values each level has, and how many records a value."""
    for level, (values, least, most) in enumerate(checked.level_sizes):
        said = f"{values:,} value{'s' * (values != 1)}, of {least:,} to {most:,} records"
        click.echo(f"level {level}: {said}")


def _print_tree(node: Node, *, shown: bool) -> None:
    """Draw the tree above the leaves; values only for those who asked."""
    from rich.console import Console  # noqa: PLC0415
    from rich.tree import Tree  # noqa: PLC0415

    tree = Tree(_label(node, shown=shown))
    _grow(tree, node, shown=shown)
    Console(markup=False, highlight=False).print(tree)


def _grow(tree: Tree, node: Node, *, shown: bool) -> None:
    for below in node.below:
        _grow(tree.add(_label(below, shown=shown)), below, shown=shown)
    if node.more:
        tree.add(f"… {node.more:,} more")


def _label(node: Node, *, shown: bool) -> str:
    from rich.markup import escape  # noqa: PLC0415

    name = escape("(missing)" if node.name is None else node.name) + ": " if shown else ""
    return f"{name}{node.leaves:,} leaves, {node.records:,} records"


def _write_not_leaves(checked: CheckedHierarchy, path: Path | None) -> bool:
    """Write the values that are not a leaf, if asked for; return whether they were written."""
    from anon_pipeline.draft.private_files import write_private  # noqa: PLC0415

    if path is None or not checked.not_leaves:
        return False
    write_private(path, "".join(f"{value}\n" for value in checked.not_leaves).encode())
    return True


def _tell_not_leaves(checked: CheckedHierarchy, path: Path | None, *, shown: bool) -> None:
    """Say how many values are no leaf; write them where asked, show them to those who asked."""
    missing = checked.not_leaves
    if not missing:
        click.echo("every value is a leaf")
        return
    from anon_pipeline.base.mistakes import counted_records  # noqa: PLC0415

    values = "1 value is no leaf" if len(missing) == 1 else f"{len(missing):,} values are no leaf"
    click.echo(f"{values}, in {counted_records(checked.lacking)}")
    if _write_not_leaves(checked, path):
        click.echo(f"wrote {path} (private: it has values)")
    if shown:
        for value in missing[:_SHOWN]:
            click.echo(f"  {value}")
    elif path is None:
        click.echo("--not-leaves FILE writes them (0600); --show-values shows them on a terminal")
