"""The words of manifest version 1 on what a release promises, kept so that old releases verify."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from operator import itemgetter

from anon_pipeline.perturb.category_law import CategoryNoise
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.policy.columns import Insensitive, Sensitive
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.manifest.noise_kinds import by_choice, by_kind

_NAMED = {
    "discrete_laplace": "discrete Laplace",
    "staircase": "staircase",
    "discrete_gaussian": "discrete Gaussian",
    "uniform": "uniform",
}
_CHOSEN = {
    "randomized_response": "Released as a value of a public list, which is the person's own or any other at "
    "random (randomized response)",
    "exponential": "Released as a random value of a public hierarchy, near ones likelier than far ones "
    "(exponential mechanism)",
}


def guarantee(policy: Policy) -> list[str]:
    """Say in plain words what the release promises and what it does not; equal policies say it alike."""
    return [*_k_anonymity_lines(policy), *_noisy(policy), *_limit_lines(policy), *_open(policy)]


def _k_anonymity_lines(policy: Policy) -> Iterator[str]:
    """Say what k-anonymity promises."""
    names = ", ".join(sorted(policy.generalized))
    yield (
        f"Each released record shares its generalized values of {names} "
        f"with at least {policy.gate_k - 1} others of the release (k = {policy.gate_k})."
    )


def _noisy(policy: Policy) -> Iterator[str]:
    """Say what the noise promises, and what it does not."""
    if policy.perturb is None:
        return
    kinds, chosen = by_kind(policy, _NAMED), by_choice(policy, _CHOSEN)
    for (mechanism, sensitivity), columns in kinds.items():
        yield _indistinguishable(mechanism, sensitivity, columns)
    for mechanism, choices in chosen.items():
        yield _category_line(mechanism, choices)
    if sum(mechanism != "uniform" for mechanism, _ in kinds) + len(chosen) > 1:
        groups: list[Mapping[str, Noise | CategoryNoise]] = [*kinds.values(), *chosen.values()]
        yield f"Together these columns spend {_say(n for group in groups for n in group.values())}."
    if all(sensitivity == "declared" for _, sensitivity in kinds):
        yield (
            "Classes and suppression look at the original values: the release as a whole is not "
            "differentially private."
        )
    else:
        yield (
            "The scale of the noise comes from the values in the class, and suppression looks at the "
            "original values: this is not end-to-end differential privacy."
        )
    if chosen:
        yield (
            f"What is measured of linking does not use {', '.join(sorted(policy.categorical))}: who knows "
            f"such a value of a person may link more."
        )
    names = ", ".join(sorted(policy.perturbed))
    if policy.perturb.republish == "sticky":
        yield (
            "A noisy value that was published stays as long as the original value and the class do; what "
            "changes is drawn anew, and its ε adds up. That a value has stayed can be seen, and by it "
            "records can be followed from release to release."
        )
    else:
        both = "ε and δ are the sums" if policy.perturb.delta is not None else "ε is the sum"
        yield f"Two releases of the same person add up: their {both}."
    if policy.suppress.confidence is not None:
        yield (
            f"No released record has between 1 and {policy.anonymize.k - 1} originals of its class within "
            f"its {100 * policy.suppress.confidence:.6g} % confidence interval of "
            f"{names}."
        )


def _category_line(mechanism: str, columns: Mapping[str, CategoryNoise]) -> str:
    """Say what one mechanism for categories promises of its columns."""
    together = " for all of these columns together" if len(columns) > 1 else ""
    epsilon = f"{float(sum((noise.epsilon for noise in columns.values()), Fraction(0))):g}"
    return (
        f"{_CHOSEN[mechanism]}: {', '.join(columns)}. Whatever the class, any two persons are "
        f"ε-indistinguishable by them (ε-local differential privacy of these columns), with "
        f"{_say(columns.values())}{together}: what is released is at most e^{epsilon} times as likely for "
        f"one as for the other."
    )


def _say(drawn: Iterable[Noise | CategoryNoise]) -> str:
    """Say the ε, and the δ if there is one, of columns together."""
    promised = [noise for noise in drawn if noise.mechanism != "uniform"]
    epsilon = sum((noise.epsilon for noise in promised), Fraction(0))
    deltas = [noise.delta for noise in promised if isinstance(noise, Noise) and noise.delta is not None]
    delta = sum(deltas, Fraction(0))
    return f"ε = {float(epsilon):g}" + (f", δ = {float(delta):g}" if delta else "")


def _indistinguishable(mechanism: str, sensitivity: str, columns: Mapping[str, Noise]) -> str:
    """Say what one kind of noise promises of its columns."""
    names = ", ".join(columns)
    if mechanism == "uniform":
        return (
            f"Released with random noise that guarantees nothing (uniform): {names}. A released value can "
            "rule original values out, or give one away."
        )
    kind = "(ε, δ)" if mechanism == "discrete_gaussian" else "ε"
    together = " for all of these columns together" if len(columns) > 1 else ""
    epsilon = f"{float(sum((noise.epsilon for noise in columns.values()), Fraction(0))):g}"
    who = "Within a class of equal generalized values any two records are"
    local = ""
    if sensitivity == "declared":
        who = "Whatever the class, any two persons are"
        local = f" ({kind}-local differential privacy of these columns)"
    plus = ", plus δ" if mechanism == "discrete_gaussian" else ""
    return (
        f"Released with random noise ({_NAMED[mechanism]}): {names}. {who} {kind}-indistinguishable by "
        f"them{local}, with {_say(columns.values())}{together}: what is released is at most e^{epsilon} "
        f"times as likely for one as for the other{plus}."
    )


def _limit_lines(policy: Policy) -> Iterator[str]:
    """Say what is promised of sensitive columns, and of all releases together."""
    if policy.gate.cross_release_k is not None:
        yield (
            f"For each person, at least {policy.gate.cross_release_k} persons, that one included, were in "
            f"the same class in every release made with a record key that the person was in."
        )
    for name, t in sorted(policy.gate.t_closeness.items()):
        yield f"In each class {name} is distributed as in the whole input, to within {t:g} (t-closeness)."
    for name, limit in sorted(policy.gate.l_diversity.items(), key=itemgetter(0)):
        c = "" if limit.c is None else f", c = {limit.c:g}"
        yield f"In each class {name} is l-diverse ({limit.kind}, l = {limit.l:g}{c})."


def _open(policy: Policy) -> Iterator[str]:
    """Say what is released without a promise, and what is gone."""
    limited = {*policy.gate.t_closeness, *policy.gate.l_diversity}
    columns = sorted(policy.columns.items(), key=itemgetter(0))
    free = [n for n, c in columns if isinstance(c, (Sensitive, Insensitive)) and n not in limited]
    if free:
        yield (
            f"Released as they are, with no limit on what they reveal: {', '.join(free)}. Who knows such a "
            f"value of a person can look for it."
        )
    if policy.publish.format == "csv" and policy.publish.formulas == "neutralize":
        yield (
            "In the CSV, texts that a spreadsheet would run (they begin with = + - @, tab or a new line) "
            "have a ' in front: remove one to have the value."
        )
    by_action = {
        action: ", ".join(name for name, column in columns if getattr(column, "action", None) == action)
        for action in ("drop", "mask", "hash")
    }
    if by_action["drop"]:
        yield f"Left out: {by_action['drop']}."
    if by_action["mask"]:
        yield f"Replaced by ***: {by_action['mask']}."
    if by_action["hash"]:
        yield (
            f"Released as keyed hashes (pseudonyms): {by_action['hash']}. Equal values have equal hashes, so "
            f"records can be joined across releases made with the same key, and by them a record is not "
            f"hidden among k."
        )
