"""What a policy must not have to be divided: what partitions of classes do not keep, or do not need."""

from __future__ import annotations

from typing import Final

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.entries import Recoder
from anon_pipeline.catalog.recoders import names_where, needs_records, recoder_of
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.portions import portions_problem
from anon_pipeline.sources.type_readers import infer

_INFERS: Final = f"{infer.__module__}:{infer.__name__}"


def refuse_undividable(policy: Policy) -> None:
    """Refuse what partitions of classes do not keep, or are not needed for.

    Raises:
        PolicyError: every reason.
    """
    recoder, problems = recoder_of(policy.anonymize.recoder), list[str]()
    unfit = portions_problem(policy)
    if unfit is not None:
        problems.append(f"{unfit}, to be divided")
    if not _divides(recoder):
        fits = ", ".join(names_where(_divides))
        problems.append(
            f"anonymize.recoder: must choose classes for the whole table by counts ({fits}), got "
            f"{recoder.name}"
        )
    if policy.sample is not None:
        problems.append("sample: take the sample first: the classes are those of the whole table")
    for key in ("person", "record_key"):
        if getattr(policy, key) is not None:
            problems.append(
                f"{key}: such a table cannot be divided: people have records in several classes. Make one "
                "release of it and give the run more memory (docs/scale.md), or keep one record of each "
                "person in the source"
            )
    if policy.one_record_per_person is None and policy.person is None and policy.record_key is None:
        problems.append(
            "one_record_per_person: make sure that each person has one record, then set it to true to "
            "divide: no partition shows records in another one. Otherwise keep one record of each person in "
            "the source"
        )
    if not policy.generalized:
        problems.append("columns: at least one must have the role generalize to be divided")
    guessed = [name for name, how in policy.cleaned.items() if how.type.reads == _INFERS]
    if guessed and policy.clean is not None:
        problems.append(
            f"clean: must name the type of {', '.join(guessed)} to be divided: type: auto looks at all "
            "values of a column, and a partition has others"
        )
    if problems:
        raise PolicyError(problems)


def _divides(recoder: Recoder) -> bool:
    """Tell whether a recoder can choose for a table that is not in memory."""
    return bool(recoder.family.elsewhere) and not needs_records(recoder)
