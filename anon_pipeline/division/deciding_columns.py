"""What decides the classes of a table: its quasi-identifiers and limited columns, as small numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.catalog.class_limits import CLASS_LIMITS
from anon_pipeline.encode.codes import code_columns, label_codes, mark_incomplete
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.policy.columns import Identifier
from anon_pipeline.policy.fields import LEFT_OUT
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.frozen_mapping import FrozenMapping
from anon_pipeline.policy.model import Policy
from anon_pipeline.recode import SensitiveLimit
from anon_pipeline.sources.change_guard import files_in
from anon_pipeline.sources.parquet_columns import packed_folder, packed_parquet
from anon_pipeline.stages.coarsen import coarsen
from anon_pipeline.stages.input_check import accepted_input
from anon_pipeline.stages.recoder_task import Limited, limited_columns, refuse_too_incomplete


@dataclass(frozen=True, slots=True, eq=False)
class Deciding:
    """The columns of n records that decide about classes.

    hierarchies: q, of the generalize columns; ``codes``: q times (n,) leaf codes.
    limits: on other columns; ``limited``: (n,) value of each, −1 where it is missing.
    judged: limits of the gate with a t, where the recoder has its own; ``judged_values``: as ``limited``.
    target: (n,) class labels; None where the loss needs none.
    gone: (n,) records that lack a value and are suppressed whatever the levels.
    """

    hierarchies: tuple[Hierarchy, ...]
    codes: tuple[NDArray[np.signedinteger], ...] = field(repr=False)
    limits: tuple[SensitiveLimit, ...] = field(repr=False)
    limited: tuple[NDArray[np.signedinteger], ...] = field(repr=False)
    target: NDArray[np.signedinteger] | None = field(repr=False)
    gone: NDArray[np.bool_] = field(repr=False)
    judged: tuple[SensitiveLimit, ...] = field(default=(), repr=False)
    judged_values: tuple[NDArray[np.signedinteger], ...] = field(default=(), repr=False)

    @property
    def records(self) -> int:
        """Records (n)."""
        return len(self.gone)


def read_deciding(policy: Policy, path: Path, *, hierarchies: Path, limits: Limits | None = None) -> Deciding:
    """Read the columns that decide, cleaned, accepted and as coarse as a release of the whole table has them.

    Args:
        path: a Parquet file, or a folder of such files.
        hierarchies: folder of the hierarchy tables.
        limits: of the files; None: those of the policy's source.
    Raises:
        InputError: the source cannot be read, or a column does not fit the policy.
        InfeasibleError: more records lack a value than may be suppressed.
    """
    names, limits = {*_names(policy)}, limits or policy.source.limits
    some = policy.model_copy(
        update={
            "columns": FrozenMapping({name: policy.columns[name] for name in policy.columns if name in names})
        }
    )
    table: Table = (
        packed_folder(path.name, files_in(path), limits, only=names)
        if path.is_dir()
        else packed_parquet(path, limits=limits, only=names)
    )
    table = coarsen(accepted_input(some, table, hierarchies=hierarchies), some, hierarchies=hierarchies)
    return_freed_memory(len(table))
    gone = mark_incomplete(table, some)
    refuse_too_incomplete(policy, table, gone)
    codes, found = code_columns(table, some, folder=hierarchies)
    every = np.ones(len(table), np.bool_)
    limited = limited_columns(some, table, rows=every, hierarchies=hierarchies)
    judged = list[Limited]()
    if policy.anonymize.t_closeness is not None:
        judged = limited_columns(_as_the_gate(some), table, rows=every, hierarchies=hierarchies)
        judged = [one for one in judged if one.limit.t is not None]
    wanted = policy.anonymize.target
    target = None if wanted is None else narrow_integers(label_codes(table[wanted]))
    columns = tuple(narrow_integers(own) for _, own in limited)
    return_freed_memory(len(table))
    return Deciding(
        found,
        codes,
        tuple(limit for limit, _ in limited),
        columns,
        target,
        gone,
        tuple(limit for limit, _ in judged),
        tuple(narrow_integers(own) for _, own in judged),
    )


def _as_the_gate(policy: Policy) -> Policy:
    """Return a policy whose recoder keeps what the gate demands."""
    own = policy.anonymize.model_copy(update=dict.fromkeys(CLASS_LIMITS))
    return policy.model_copy(update={"anonymize": own})


def _names(policy: Policy) -> Iterator[str]:
    """Yield the columns that decide: generalized, limited or labels; or that suppress who lacks a value."""
    both = (policy.recoding_limits, policy.class_limits)
    limited = {name for kinds in both for limits in kinds.values() for name in limits}
    for name, column in policy.columns.items():
        if isinstance(column, Identifier):
            continue
        suppresses = getattr(column, "missing", None) == LEFT_OUT
        if name in policy.generalized or name in limited or suppresses or name == policy.anonymize.target:
            yield name
