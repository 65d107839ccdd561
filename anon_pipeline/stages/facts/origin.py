"""Where the tables of a release come from: the policy, the hierarchies and the entropy that made them."""

from __future__ import annotations

from pathlib import Path

from anon_pipeline.base.digest import digest_file
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.policy.columns import Generalize, Insensitive, Sensitive
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.value_maps import value_map_digests
from anon_pipeline.stages.facts.records import (
    DeidentifiedFacts,
    Facts,
    KAnonymizedFacts,
    PerturbedFacts,
    RawFacts,
    ShuffledFacts,
    SuppressedFacts,
)

_ALL = (RawFacts, DeidentifiedFacts, KAnonymizedFacts, PerturbedFacts, ShuffledFacts, SuppressedFacts)
_RANDOM = (PerturbedFacts, ShuffledFacts)


def hierarchy_digests(policy: Policy, folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every hierarchy table that the policy names, by the column that it is for.

    It stays in the vault: who can guess a private table could confirm the guess by its digest. Paths stay out
    all the same.

    Raises:
        InputError: one that cannot be read.
    """
    kinds = (Generalize, Sensitive, Insensitive)
    columns = {n: c for n, c in policy.columns.items() if isinstance(c, kinds)}
    files = {name: hierarchy_kind(column.hierarchy).file for name, column in columns.items()}
    paths = {name: getattr(columns[name].hierarchy, file) for name, file in files.items() if file is not None}
    try:
        return {name: digest_file(folder / path) for name, path in sorted(paths.items())}
    except OSError as error:
        raise InputError(f"hierarchy tables must be readable: {error_words(error)}") from None


def broken_origin(policy: Policy, facts: Facts, *, hierarchies: Path | None) -> list[str]:
    """List what speaks against the tables being made by this policy, from the system's entropy.

    Args:
        policy: what the release is published under.
        facts: of every stage.
        hierarchies: folder of their tables; None: facts of a manifest do not name them.
    Returns:
        One line per reason; empty if every stage was made by this policy's sections and hierarchies, and the
        noise and the order without a seed.
    """
    missing = [kind.stage for kind in _ALL if kind.stage not in facts]
    if missing:
        return [f"facts are missing of {', '.join(missing)}"]
    problems = []
    others = [kind.stage for kind in _ALL if facts[kind.stage].get("made_by") != policy.making]
    if others:
        problems.append(f"made by another policy than this one: {', '.join(others)}")
    if hierarchies is not None:
        told = facts[KAnonymizedFacts.stage].get("hierarchies")
        if told != hierarchy_digests(policy, hierarchies):
            problems.append("a hierarchy table has changed since k_anonymized was made")
        if facts[RawFacts.stage].get("value_maps", {}) != value_map_digests(policy, hierarchies):
            problems.append("the file of a value map has changed since raw was made")
    if any(facts[kind.stage].get("seeded") is not False for kind in _RANDOM):
        problems.append("made with a seed: whoever knows it can undo the noise")
    return problems
