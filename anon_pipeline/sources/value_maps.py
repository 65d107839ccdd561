"""The private files of value maps that a policy names: a value, and what takes its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from anon_pipeline.base.digest import digest_file
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.files import read_csv

_HEADER = ["from", "to"]
_LIMITS = Limits(file_bytes=2**28, columns=2, rows=2_000_000)


def read_value_maps(policy: Policy, folder: Path) -> dict[str, dict[str, str]]:
    """Read the files of value maps, by column.

    Raises:
        InputError: one that is not there, has another header, a value twice, or lines without a value; all
            listed, by column.
    """
    found, problems = dict[str, dict[str, str]](), list[str]()
    for name, path in _map_files(policy):
        where = f"clean.columns.{name}.values_file"
        try:
            table = read_csv(folder / path, options=SourceOptions(), limits=_LIMITS)
            found[name] = dict(_pairs(table, where))
        except InputError as error:
            problems += (line if line.startswith(where) else f"{where}: {line}" for line in error.problems)
    if problems:
        raise InputError(problems)
    return found


def value_map_digests(policy: Policy, folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a value map, by column; it stays in the vault, as hierarchies' do.

    Raises:
        InputError: one that cannot be read.
    """
    try:
        return {name: digest_file(folder / path) for name, path in sorted(_map_files(policy))}
    except OSError as error:
        raise InputError(f"value maps must be readable: {error_words(error)}") from None


def _map_files(policy: Policy) -> list[tuple[str, str]]:
    return [(name, how.values_file) for name, how in policy.cleaned.items() if how.values_file is not None]


def _pairs(table: pd.DataFrame, where: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a value map."""
    if list(table.columns) != _HEADER:
        raise InputError(f"{where}: must have the header {','.join(_HEADER)}")
    empty, twice = int(table.isna().any(axis=1).sum()), int(table["from"].duplicated().sum())
    if empty or twice:
        raise InputError(
            f"{where}: must name each value once, and what takes its place, got {twice} lines with a value "
            f"again and {empty} with an empty field"
        )
    yield from zip(table["from"], table["to"], strict=True)
