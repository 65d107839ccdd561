"""The node that somebody else chose: the policy's author, or a search of a larger table."""

from __future__ import annotations

from anon_pipeline.base.errors import InfeasibleError, InputError
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, is_feasible, node_error, score
from anon_pipeline.recode.task import Task


def refuse_other_levels(task: Task) -> None:
    """Refuse levels that are not one for each hierarchy, or that it does not have.

    Raises:
        InputError: a level above the last one of its hierarchy.
        ValueError: another number of levels than of hierarchies.
    """
    levels, hierarchies = task.levels, task.hierarchies
    if len(levels) != len(hierarchies):
        raise ValueError(f"levels must be one for each column ({len(hierarchies)}), got {len(levels)}.")
    high = [
        f"anonymize.levels.{hierarchy.column}: must be at most {hierarchy.height - 1}, the last level of its "
        f"hierarchy, got {level}"
        for level, hierarchy in zip(levels, hierarchies, strict=True)
        if level >= hierarchy.height
    ]
    if high:
        raise InputError(high)


def score_fixed(search: Search) -> NodeScore:
    """Look at the node of ``task.levels`` alone: what breaks a limit there is suppressed.

    Where cells are suppressed, how many records go whole is known once these are blanked, so the node may
    exceed the suppression limit here (local suppression; `best_node.choose_node` holds it to the limit then).

    Args:
        search: a table with n ≥ k.
    Raises:
        InputError, ValueError: see `refuse_other_levels`.
        InfeasibleError: more is suppressed than may be.
    """
    refuse_other_levels(search.task)
    index = search.nodes.index(search.task.levels)
    if not search.task.cells and not is_feasible(search, index):
        raise levels_error(search)
    return score(search, index)


def levels_error(search: Search) -> InfeasibleError:
    """Say that more is suppressed at the levels of ``task.levels`` than may be."""
    return node_error(
        search, search.task.levels, advice="Raise suppression_limit or a level of anonymize.levels."
    )
