"""What a second person confirms of a policy: what no limit can measure, as questions about its own columns.

Decision: docs/adr/0077-a-second-person-reviews.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from anon_pipeline.base.spelling import escape
from anon_pipeline.limits.accepted_risks import accepted_risks
from anon_pipeline.limits.table import demands
from anon_pipeline.policy.fields import LEFT_OUT
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.model import Policy

_MOST_SHOWN = 30  # values of a list
REVIEW = "reviewed"
"""Key of the policy, and of what is accepted without it."""


def treatments(policy: Policy) -> Iterator[tuple[str, list[str]]]:
    """Yield what is done with which columns, in words; every column of the policy is in one of them."""
    names = policy.columns
    left = {name for name in policy.identifiers if name in policy.released}
    yield "never released", [name for name in names if name not in policy.released]
    yield "identifiers that are masked or hashed", [name for name in names if name in left]
    yield "generalized", [name for name in names if name in policy.generalized]
    yield "released with noise", [name for name in names if name in policy.noisy]
    for role, columns in (("sensitive", policy.sensitive), ("insensitive", policy.insensitive)):
        yield f"{role}, released as they are", [name for name in columns if name not in policy.coarsened]
        yield f"{role}, released less exactly", [name for name in columns if name in policy.coarsened]


def review_questions(policy: Policy) -> Iterator[str]:
    """Yield the questions, each to be answered with yes or no; a no means that the policy must change.

    They are about ten, as many as a careful reader answers. Behind each is a mistake that no limit sees.
    """
    yield from _of_people(policy)
    yield from _of_protected_columns(policy)
    yield from _of_exact_columns(policy)
    yield from _of_values(policy)
    yield from _of_other_releases(policy)
    yield from _of_use(policy)


def protections(policy: Policy) -> Iterator[str]:
    """Yield how the columns are protected, and each limit that a release must keep, in one line each."""
    recoding = policy.anonymize
    yield (
        f"classes of at least {recoding.k} {'records' if policy.person is None else 'people'}, by "
        f"{recoding.recoder}; at most "
        f"{100 * recoding.suppression_limit:g} % of the records left out for it"
    )
    if policy.sample is not None:
        yield f"a random sample of the input: {100 * policy.sample.share:g} %"
    if policy.stream is not None:
        yield f"records in classes that are too small wait, for at most {policy.stream.delay} partitions"
    if policy.noise_epsilon is not None:
        split = f", split over {policy.rows} records" if policy.rows > 1 else ""
        yield f"ε = {policy.noise_epsilon:g} for all noisy columns together{split}"
    if kinds := policy.changed_columns:
        changed = [f"{name} ({kind}{_amount(policy, name)})" for name, kind in kinds.items()]
        yield f"changed by a method that promises nothing: {', '.join(changed)}"
    for column, coarsened in policy.coarsened.items():
        yield f"{column}: {coarsened.words}"
    for column, said in _bounds(policy).items():
        yield f"{column}: {said}"
    for column in policy.sensitive:
        if column not in policy.gate.t_closeness:
            yield f"{column}: no limit on how likely one value becomes in a class (t_closeness)"
    for column, order in _orders(policy).items():
        yield f"{column}: in t-closeness, neighbors in this order are alike: {order}"
    if texts := _missing_texts(policy):
        yield f"texts that count as a missing value: {_value_list(texts)}"
    for demand in demands(policy):
        limits = demand.bound is not None and not (demand.sense == "at most" and demand.bound >= 1)
        if limits and not demand.advised and not demand.limit.of_policy:
            yield f"{demand.name} {demand.sense} {demand.bound:g}"


def risks_of_author(policy: Policy) -> Mapping[str, str]:
    """Return what the author accepts beyond what is usual, which the reviewer accepts as well, by key."""
    return {key: said for key, said in accepted_risks(policy).items() if key != REVIEW}


def _of_people(policy: Policy) -> Iterator[str]:
    if policy.person is not None:
        yield f"{policy.person}: Does every person have one value there, the same in all of their records?"
    elif policy.record_key is None:
        yield "Does everybody have at most one record in this table?"
    yield "Is it no secret that a person is in this table?"


def _of_protected_columns(policy: Policy) -> Iterator[str]:
    yield (
        f"Generalized or with noise ({_join([*policy.generalized, *policy.noisy]) or 'none'}): Of the "
        "released columns, are these all that a neighbor, a colleague, the press or a public register could "
        "know of a person?"
    )
    if policy.generalized:
        yield f"Generalized ({_join(policy.generalized)}): Is none of these columns itself a secret?"
    if named := _named_labels(policy):
        yield (
            f"Labels of {_join(named)}, also those in files: Can everybody read them without learning a "
            "secret about a person or a group?"
        )
    if policy.changed_columns:
        yield (
            f"Changed without a guarantee ({_join(policy.changed_columns)}): Is it acceptable what the "
            "released values tell an attacker who knows the method? Some methods release people's exact "
            "values, the largest one, too."
        )
    if policy.joint_columns:
        yield (
            f"Moved together ({_join(policy.joint_columns)}): An attacker who knows some of these values of "
            "a person may learn the others. Is none of them a secret?"
        )
    if policy.drawn_categories and policy.perturb is not None:
        yield (
            f"Drawn at random ({_join(policy.drawn_categories)}): At ε = {policy.perturb.epsilon:g} most "
            "values may stay as they are. Is that what people were promised?"
        )


def _amount(policy: Policy, name: str) -> str:
    amount = getattr(policy.columns[name], "amount", None)
    return "" if amount is None else f", amount {amount:g}"


def _of_exact_columns(policy: Policy) -> Iterator[str]:
    if policy.insensitive:
        names = f"Insensitive ({_join(policy.insensitive)})"
        yield f"{names}: Is it impossible to recognize anybody by these values?"
        yield f"{names}: Is none of these values a secret, and does no secret follow from them?"
    if policy.sensitive:
        names = f"Sensitive ({_join(policy.sensitive)})"
        yield f"{names}: Is it impossible to work out these values from other columns, released or known?"
        yield (
            f"{names}: Do all values mean different things, so that no two are the same illness, or the same "
            "bad news, in other words?"
        )
        yield (
            f"{names}: Does each person have a value of their own, not one that a household, a family or a "
            "team shares?"
        )
        yield from _of_limits(policy)


def _of_limits(policy: Policy) -> Iterator[str]:
    free = [name for name in policy.sensitive if name not in policy.gate.t_closeness]
    if free:
        yield (
            f"{_join(free)}: No t_closeness is set, so nearly everybody in a class may have the same value. "
            "Is that harmless?"
        )
    if orders := _orders(policy):
        yield (
            f"{_join(orders)}: Does the order above go from less to more of the same thing, not by the "
            "alphabet or a code?"
        )


def _of_values(policy: Policy) -> Iterator[str]:
    if texts := _missing_texts(policy):
        yield f"Texts that count as missing ({_value_list(texts)}): Is none of them an answer or a value?"
    if shares := [name for name, column in policy.categorical.items() if column.shares is not None]:
        yield (
            f"Shares ({_join(shares)}): They are published. Do they come from public statistics, and not "
            "from this table?"
        )
    if bounds := _bounds(policy):
        yield (
            f"Bounds ({_join(bounds)}): They are published. Do they come from general knowledge, and not "
            "from the values in this table?"
        )


def _of_other_releases(policy: Policy) -> Iterator[str]:
    yield (
        "Other releases about these people, also by colleagues: Are there none, or do all have the dataset "
        f"{policy.dataset or policy.name}, and mostly new people or new values?"
    )
    if policy.noisy and policy.budget is None:
        yield (
            "No budget limits the sum of ε. Have these people not been released with noise before, and will "
            "they not be again?"
        )


def _of_use(policy: Policy) -> Iterator[str]:
    purpose = None if policy.responsible is None else policy.responsible.purpose
    said = "the purpose" if purpose is None else f"the purpose ({purpose})"
    yield f'"What is left", at the end of a run: Is each column that {said} needs still useful?'
    left = [name for name, column in policy.columns.items() if getattr(column, "missing", None) == LEFT_OUT]
    reasons = [f"those without a value in {_join(left)}"] if left else []
    if policy.rows_per_person is not None:
        reasons.append(f"those beyond {policy.rows_per_person} of a person")
    also = f" (among them {' and '.join(reasons)})" if reasons else ""
    yield f"Records that are left out{also}: Does each group that matters still have enough records?"
    yield (
        "Limits of the gate: Is the harm small enough, if a reader finds people, or becomes sure of a value, "
        "as often as they allow?"
    )


def _bounds(policy: Policy) -> dict[str, str]:
    """Say the bounds of the columns with noise: of what is released, or of what noise is added to."""
    found: dict[str, str] = {}
    for name, column in policy.perturbed.items():
        if column.input_bounds is not None:
            found[name] = f"set to the bounds {_between(column.input_bounds)} before noise is added"
        if column.output_bounds is not None:
            found[name] = f"released between {_between(column.output_bounds)}"
    return found


def _between(bounds: tuple[float, float]) -> str:
    """Write bounds exactly: how they end shows whether they come from the data."""
    low, high = (repr(float(bound)).removesuffix(".0") for bound in bounds)
    return f"{low} and {high}"


def _named_labels(policy: Policy) -> list[str]:
    """Return the generalized columns whose labels somebody has written, and no rule computes."""
    return [
        name
        for name, column in policy.generalized.items()
        if column.hierarchy is not None and not hierarchy_kind(column.hierarchy).computed
    ]


def _orders(policy: Policy) -> dict[str, str]:
    """Return the order of the values of sensitive columns, in words, where the policy says one."""
    return {
        name: _value_list(map(str, column.order)) for name, column in policy.sensitive.items() if column.order
    }


def _missing_texts(policy: Policy) -> list[str]:
    """Return all texts that count as a missing value somewhere."""
    own = (text for how in policy.cleaned.values() for text in how.missing)
    return [*dict.fromkeys([*policy.source.options.missing, *own])]


def _value_list(texts: Iterable[str]) -> str:
    """List values of a policy; what a terminal would obey is written out, and so is a long list's length."""
    every = [*texts]
    shown = ", ".join(f"'{one if one.isprintable() else escape(one)}'" for one in every[:_MOST_SHOWN])
    left = len(every) - _MOST_SHOWN
    return f"{shown} and {left:,} more" if left > 0 else shown


def _join(names: Iterable[str]) -> str:
    return ", ".join(names)
