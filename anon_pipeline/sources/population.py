"""The population that the released records are a sample of, from the file that a policy names."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.headers import HEADERLESS, looks_headerless, withheld_names
from anon_pipeline.base.mistakes import mistakes_error
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.base.size_bounds import Held, limit_error, read_small
from anon_pipeline.policy.attacks import PopulationLimits
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.cleaning import clean_frame
from anon_pipeline.sources.formats import read_file

_WHERE = "gate.attacks.population"


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Everybody whom a released record may be about.

    frame: (N, q) a record for each person, the generalize columns as they are.
    sha256: of the bytes that were read.
    """

    frame: pd.DataFrame = field(repr=False)
    sha256: str


def read_population(
    policy: Policy, *, folder: Path = Path(), hierarchies: Path = Path()
) -> Population | None:
    """Read the population that a policy names; None where it names none.

    Args:
        policy: its ``gate.attacks.population`` and its columns.
        folder: what the path is relative to.
        hierarchies: folder of the value maps: the table is cleaned as the source is.
    Raises:
        InputError: unreadable, malformed or empty; a generalize column that is not there.
    """
    wanted = policy.gate.attacks.population
    if wanted is None:
        return None
    held = _hold(wanted, folder)
    frame = _parse(held, wanted, policy)
    lacking = sorted(set(policy.generalized) - set(map(str, frame.columns)))
    if lacking:
        got = list(map(str, frame.columns))
        strange = [name for name in got if name not in policy.columns]
        lacks = ", ".join(lacking) + (f". {HEADERLESS}" if looks_headerless(strange) else "")
        raise InputError(
            f"{_WHERE}: must have the columns with the role generalize, not there: {lacks}",
            names=withheld_names(got, list(policy.columns)),
        )
    if not len(frame):
        raise InputError(f"{_WHERE}: must have at least one record, got none")
    cleaned = clean_frame(frame[list(policy.generalized)], policy, folder=hierarchies)
    if cleaned.mistakes:
        raise mistakes_error([replace(one, column=f"{_WHERE}, {one.column}") for one in cleaned.mistakes])
    return Population(unpack_table(cleaned.frame), hashlib.sha256(held.data).hexdigest())


def _hold(wanted: PopulationLimits, folder: Path) -> Held:
    """Read the file's bytes once: what is measured is what the digest is of."""
    path = folder / wanted.path
    try:
        data = read_small(path, wanted.limits.file_bytes)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{_WHERE}.path: must be a readable file: {error_words(error)}. "
            f"Its path is relative to the project (--project) or to ANON_PIPELINE_SOURCES."
        ) from None
    if data is None:
        raise limit_error(path.name, "file_bytes", wanted.limits.file_bytes)
    return Held(path.name, data)


def _parse(held: Held, wanted: PopulationLimits, policy: Policy) -> pd.DataFrame:
    table = read_file(wanted.format, held, wanted.options, wanted.limits, policy.numeric)
    return unpack_table(table)
