"""What a release promises and what it does not, in plain words, from its policy alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from operator import itemgetter

from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS, MECHANISMS
from anon_pipeline.catalog.releases import RELEASE_FORMATS
from anon_pipeline.encode.categories import category_noises
from anon_pipeline.encode.grids import noises
from anon_pipeline.limits.table import LIMITS, demands
from anon_pipeline.perturb.category_law import CategoryNoise
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.policy.columns import Insensitive, Sensitive
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.manifest import promises
from anon_pipeline.publish.manifest.noise_kinds import by_choice, by_kind


def _promises(mechanism: str) -> bool:
    return MECHANISMS[mechanism].promises != "nothing"


def guarantee(policy: Policy) -> list[str]:
    """Say in plain words what the release promises and what it does not; equal policies say it alike."""
    return [
        *_k_anonymity_lines(policy),
        *_noisy(policy),
        *_gate_lines(policy),
        *_limit_lines(policy),
        *_open(policy),
    ]


def _k_anonymity_lines(policy: Policy) -> Iterator[str]:
    """Say what k-anonymity promises."""
    names, k = ", ".join(sorted(policy.generalized)), policy.gate_k
    others = "others" if policy.person is None else "other people"
    yield (
        f"Each released record shares its generalized values of {names} "
        f"with at least {k - 1} {others} of the release (k = {k})."
    )
    yield _counting_line(policy)


def _counting_line(policy: Policy) -> str:
    """Say what is counted: people, records that are people, or records."""
    if policy.person is not None:
        return promises.PEOPLE_COUNTED
    if policy.record_key is not None:
        return promises.ONE_RECORD
    return promises.ONE_RECORD_STATED if policy.one_record_per_person else promises.RECORDS_COUNTED


def _noisy(policy: Policy) -> Iterator[str]:
    """Say what the noise promises, and what it does not."""
    if policy.perturb is None:
        return
    kinds = by_kind(policy, MECHANISMS)
    chosen = by_choice(policy, CATEGORY_MECHANISMS)
    for (mechanism, sensitivity), columns in kinds.items():
        if MECHANISMS[mechanism].whole_column is None:
            yield _row(mechanism, sensitivity, columns)
    for mechanism in MECHANISMS:
        if changed := sorted(name for name, kind in policy.changed_columns.items() if kind == mechanism):
            yield _changed_line(policy, mechanism, changed)
    if any(_promises(mechanism) and sensitivity == "class" for mechanism, sensitivity in kinds):
        yield f"{promises.FIXED} {promises.EQUAL}"
    for mechanism, choices in chosen.items():
        yield _category_line(mechanism, choices)
    if sum(_promises(mechanism) for mechanism, _ in kinds) + len(chosen) > 1:
        yield f"Together these columns spend {_say(_spend(_all(policy)))}: in one row the factors multiply."
    yield from _of_person(policy)
    yield from _whole(policy)
    scaled = [kind for kind in kinds if MECHANISMS[kind[0]].whole_column is None]
    declared = all(sensitivity == "declared" for _, sensitivity in scaled)
    yield promises.NOT_ALL_LOCAL if declared else promises.NOT_ALL
    if chosen:
        yield (
            f"What is measured of linking does not use {', '.join(sorted(policy.drawn_categories))}: who "
            f"knows such a value of a person may link more."
        )
    if policy.changed_categories:
        yield promises.KNOWN_CHANGED.format(", ".join(sorted(policy.changed_categories)))
    yield _again(policy, declared=declared)
    if policy.changed_columns and _spend(_all(policy))[0]:
        yield promises.AGAIN_UNPROMISED.format(f" of {', '.join(sorted(policy.changed_columns))}")
    if policy.suppress.confidence is not None:
        yield (
            f"No released record has between 1 and {policy.anonymize.k - 1} {_near(policy)} of its class "
            f"within its {100 * policy.suppress.confidence:.6g} % confidence interval of "
            f"{', '.join(sorted(policy.perturbed))}."
        )


def _near(policy: Policy) -> str:
    return "originals" if policy.person is None else "people with originals"


def _all(policy: Policy) -> list[Noise | CategoryNoise]:
    """Return what the noise of every perturb column is drawn under."""
    return [*noises(policy), *category_noises(policy).values()]


def _of_person(policy: Policy) -> Iterator[str]:
    """Say what holds of all records of a person, where a person may have several."""
    (epsilon, delta), rows = _spend(_all(policy)), policy.rows
    if policy.person is None or not epsilon:
        return
    local = all(column.sensitivity == "declared" for column in policy.perturbed.values())
    yield promises.person_sentence(rows, rows * epsilon, rows * delta, local=local)
    if policy.suppress.confidence is not None and all(map(_promises, policy.mechanisms.values())):
        numbers, _ = _spend(noises(policy))
        yield promises.released_person_sentence(rows * epsilon, rows * numbers, rows * delta)


def _whole(policy: Policy) -> Iterator[str]:
    """Say what holds of two rows, of a row that was released, and of a release that passed."""
    epsilon, delta = _spend(_all(policy))
    if not epsilon:
        return
    unpromised = not all(map(_promises, policy.mechanisms.values()))
    if not policy.unpromised_kinds:
        yield promises.exchange_sentence(epsilon, delta)
    if policy.suppress.confidence is not None:
        numbers, _ = _spend(noises(policy))
        yield (
            promises.UNPROMISED_ROW if unpromised else promises.released_row_sentence(epsilon, numbers, delta)
        )
    yield promises.PASSED


def _again(policy: Policy, *, declared: bool) -> str:
    """Say what several releases of the same people add up to."""
    epsilon, delta = _spend(_all(policy))
    if policy.changed_columns and not epsilon:
        return promises.AGAIN_UNPROMISED.format("")
    if policy.perturb is None or policy.perturb.republish == "fresh":
        both = "the ε values and the δ values" if delta else "the ε values"
        alike = " This holds for two people who are in the same class in both releases."
        return f"If the same people are released twice, {both} add up.{'' if declared else alike}"
    limited = any(one.limit.published.together and not one.advised for one in demands(policy))
    stays = promises.sticky_sentence(epsilon, delta)
    followed = "" if limited else ", and nothing limits what is learned from all classes of a record together"
    return (
        "A noisy value that was published stays as long as the original value does, whatever its class: "
        f"{stays} A value that changes, that suppression had left out, or whose ε, grid or bounds the policy "
        "changes, is drawn anew, and its ε adds up. That a value has stayed can be seen: by it records can "
        f"be followed from release to release and from class to class{followed}."
    )


def _gate_lines(policy: Policy) -> Iterator[str]:
    """Say that the gate's verdict reveals something about the noise, if the policy allows it."""
    looks = [demand.name for demand in demands(policy) if demand.limit.judged.over_noise is not None]
    if policy.perturbed and policy.gate.linking == "realized" and looks:
        yield (
            f"The gate looked at the drawn noise: {', '.join(looks)} held of the noise of this release, and "
            f"that it was accepted tells more of the original values than ε says."
        )


def _category_line(mechanism: str, columns: Mapping[str, CategoryNoise]) -> str:
    """Say what one mechanism for categories promises of its columns."""
    epsilon, _ = _spend(columns.values())
    return (
        f"{CATEGORY_MECHANISMS[mechanism].released}: {', '.join(columns)}. "
        f"{promises.LOCAL.format(promises.times(epsilon))} "
        f"({_local('ε', columns)}, {_say((epsilon, Fraction(0)))})."
    )


def _spend(drawn: Iterable[Noise | CategoryNoise]) -> tuple[Fraction, Fraction]:
    """Return the ε and the δ of columns together; noise without a promise has none."""
    promised = [noise for noise in drawn if not isinstance(noise, Noise) or _promises(noise.mechanism)]
    deltas = [noise.delta for noise in promised if isinstance(noise, Noise) and noise.delta is not None]
    return sum((noise.epsilon for noise in promised), Fraction(0)), sum(deltas, Fraction(0))


def _say(spent: tuple[Fraction, Fraction]) -> str:
    """Say an ε, and the δ if there is one."""
    epsilon, delta = spent
    return f"ε = {float(epsilon):g}" + (f", δ = {float(delta):g}" if delta else "")


def _local(kind: str, columns: Collection[str]) -> str:
    which = "these columns together" if len(columns) > 1 else "this column"
    return f"{kind}-local differential privacy of {which}"


def _changed_line(policy: Policy, mechanism: str, columns: Collection[str]) -> str:
    """Say of columns that are changed as a whole that nothing is promised, and what follows all the same.

    What the mechanism keeps is not said where public bounds change what is released, or where records are
    left out afterwards by a confidence, with values that others were given.
    """
    entry = MECHANISMS[mechanism]
    said = promises.CHANGED.format(words=entry.words, names=", ".join(columns))
    numbers = [policy.perturbed[name] for name in columns if name in policy.perturbed]
    lost = policy.suppress.confidence is not None or any(one.output_bounds is not None for one in numbers)
    keeps = "" if entry.whole_column is None or lost else entry.whole_column.keeps
    joint = sorted({*columns} & {*policy.joint_columns})
    together = promises.JOINT.format(", ".join(joint)) if joint else ""
    parts = (said, promises.UNPROMISED, promises.SIMULATED, keeps, together)
    return " ".join(part for part in parts if part)


def _row(mechanism: str, sensitivity: str, columns: Mapping[str, Noise]) -> str:
    """Say what one kind of noise promises of its columns in one row."""
    names = ", ".join(columns)
    words = MECHANISMS[mechanism].words
    if not _promises(mechanism):
        return f"Released with random noise that guarantees nothing ({words}): {names}. {promises.UNPROMISED}"
    epsilon, delta = _spend(columns.values())
    kind, most = "(ε, δ)" if delta else "ε", promises.times(epsilon, delta)
    if sensitivity == "declared":
        return (
            f"Released with random noise of a public scale ({words}): {names}. "
            f"{promises.LOCAL.format(most)} ({_local(kind, columns)}, {_say((epsilon, delta))})."
        )
    together = " for all of these columns together" if len(columns) > 1 else ""
    return (
        f"Released with random noise scaled to the class ({words}): {names}. "
        f"{promises.ROW.format(most)} ({kind}-indistinguishable, {_say((epsilon, delta))}{together})."
    )


def _limit_lines(policy: Policy) -> Iterator[str]:
    """Say what limits promise: first those on all releases together, then by column."""
    for limit in sorted(LIMITS, key=lambda limit: not limit.published.together):
        for demand in sorted(limit.demands(policy), key=lambda demand: demand.of):
            if limit.published.promise is not None and not demand.advised:
                yield limit.published.promise(demand)


def _answered_for(policy: Policy) -> Iterator[str]:
    """Say which columns single people out, and who answers for it."""
    for one in policy.acknowledged:
        follows = "follows" if {*one.columns} & {*policy.identifiers} else "may follow"
        share = f"{one.share:.3g} of"
        what = (
            f"may be different for up to {share} all records, and {follows} people through the table"
            if len(one.columns) == 1
            else f"may single out up to {share} the records"
        )
        yield (
            f"{', '.join(one.columns)} {what}. {one.who} answers for it from {one.when} until {one.until}: "
            f"{one.why}"
        )


def _open(policy: Policy) -> Iterator[str]:
    """Say what is released without a promise, and what is gone."""
    yield promises.PRESENCE
    if policy.sample is not None:
        of = "records" if policy.person is None and policy.record_key is None else "people"
        yield promises.SAMPLE.format(of, f"{100 * policy.sample.share:g}")
    if policy.stream is not None:
        yield promises.STREAM.format(policy.stream.delay)
    limited = policy.class_limited
    columns = sorted(policy.columns.items(), key=itemgetter(0))
    coarse = policy.coarsened
    for name, column in sorted(coarse.items(), key=itemgetter(0)):
        yield f"{name} is released coarser than it is: {column.words}."
    free = [n for n, c in columns if isinstance(c, (Sensitive, Insensitive)) and n not in limited]
    if free:
        yield (
            f"Released without noise, with no limit on what a class tells of them: {', '.join(free)}. Who "
            f"knows such a value of a person can look for it."
        )
    yield from _answered_for(policy)
    for allowed in policy.allowed:
        yield (
            f"{allowed['column']} may hold what looks like an identifier ({allowed['detector']}). The "
            f"policy's author allows it: {allowed['reason']}"
        )
    form = RELEASE_FORMATS[policy.publish.format]
    if form.runs_formulas and policy.publish.formulas == "neutralize":
        yield (
            f"In the {form.words}, texts that a spreadsheet would run (they begin with = + - @, tab or a new "
            f"line) have a ' in front: remove one to have the value."
        )
    for action in IDENTIFIER_ACTIONS.values():
        names = [name for name, column in columns if getattr(column, "action", None) == action.name]
        if names:
            yield action.promise.format(", ".join(names))
