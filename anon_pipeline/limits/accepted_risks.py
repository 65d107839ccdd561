"""What a policy accepts beyond what is usual, each a verdict of its own that always warns ([ADR 54])."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS
from anon_pipeline.encode.categories import category_noises
from anon_pipeline.limits import usual
from anon_pipeline.limits.known_columns import name_of, usual_columns
from anon_pipeline.limits.limit import Advised, Demand, Demanded, Limit, unit_of
from anon_pipeline.limits.named_identifiers import by_named_identifiers
from anon_pipeline.limits.traits import Forecast, Judged, Published, Words
from anon_pipeline.limits.usefulness import CLIPPED_SHARE, ERROR, EXCESS, HIDDEN, LOSS, RELEASED, SPREAD_ERROR
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.perturb.category_law import keep_probabilities, percent_down
from anon_pipeline.policy.contradictions import LARGE_EPSILON, linking_bounds
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.usefulness_bounds import Usefulness


def accepted_risks(policy: Policy) -> Mapping[str, str]:
    """Say what a policy accepts beyond what is usual.

    Returns:
        Key of the policy → one sentence for people.
    """
    return dict(
        chain(
            _by_columns(policy),
            by_named_identifiers(policy),
            _by_size(policy),
            _by_noise(policy),
            _by_linking(policy),
            _by_classes(policy),
            _by_several_records(policy),
            _by_acknowledgement(policy),
            by_missing_review(policy),
            _by_judging(policy),
            _by_demanding_nothing(policy),
            _by_demanding_little(policy),
            _by_usefulness(policy),
            _by_delta(policy),
        )
    )


def _by_columns(policy: Policy) -> Iterator[tuple[str, str]]:
    for one in policy.allowed:
        yield (
            f"columns.{one['column']}.allow.{one['detector']}",
            f"{one['column']} may hold what looks like {one['detector']}, for this reason: {one['reason']}",
        )


def _by_size(policy: Policy) -> Iterator[tuple[str, str]]:
    if policy.gate_k < usual.SMALLEST_K:
        key = "anonymize.k" if policy.gate.k is None else "gate.k"
        yield (
            key,
            f"a class may have {policy.gate_k} {unit_of(policy)}: each of the two knows the values of the "
            f"other (usual: {usual.SMALLEST_K} or more)",
        )


def _by_noise(policy: Policy) -> Iterator[tuple[str, str]]:
    if policy.perturb is None:
        return
    if policy.noise_epsilon is not None and policy.noise_epsilon > LARGE_EPSILON:
        yield (
            "perturb.epsilon",
            f"ε is {policy.noise_epsilon:g}: so little noise hides next to nothing (usual: at most "
            f"{LARGE_EPSILON})",
        )
    if policy.perturb.without_guarantee:
        what = "what changes numbers" if policy.whole_columns else "the noise"
        what = "what changes columns" if policy.changed_categories else what
        yield "perturb.without_guarantee", f"{what} ({', '.join(policy.unpromised_kinds)}) promises no ε"
    if joint := policy.joint_columns:
        yield (
            f"columns.{joint[0]}.together",
            f"the values of {', '.join(joint)} move together: an attacker who knows some of them of a person "
            "may learn the others",
        )
    yield from _by_drawing(policy)


def _by_drawing(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield the columns with randomized response, or drawn by shares, that keep nearly all values.

    How often another mechanism keeps a value depends on a hierarchy, which may not be public.
    """
    for name, noise in category_noises(policy).items():
        kept = float(keep_probabilities(noise).min())
        if not CATEGORY_MECHANISMS[noise.mechanism].by_distance and kept > usual.DRAWN_KEPT:
            yield (
                f"columns.{name}.mechanism",
                f"{noise.mechanism.replace('_', ' ')} releases each value of {name} as it is with a "
                f"probability of {percent_down(kept)} %: nobody can credibly deny a released answer (usual: "
                f"at most {100 * usual.DRAWN_KEPT:g} %; it falls with the column's part of ε)",
            )


def _by_judging(policy: Policy) -> Iterator[tuple[str, str]]:
    if policy.noisy and policy.gate.linking == "realized":
        yield (
            "gate.linking",
            "limits on linking judge the noise that was drawn: acceptance of a release then reveals "
            "something about the original values (usual: expected)",
        )


def _by_delta(policy: Policy) -> Iterator[tuple[str, str]]:
    delta = None if policy.perturb is None else policy.perturb.delta
    if delta is not None and delta > usual.DELTA:
        yield (
            "perturb.delta",
            f"with a probability of {delta:g} the noise may exceed what ε promises (usual: at most "
            f"{usual.DELTA:g})",
        )


def _by_linking(policy: Policy) -> Iterator[tuple[str, str]]:
    bounds, bound = dict(linking_bounds(policy.gate, "gate")), usual.linking_bound(policy.gate_k)
    if bounds and min(bounds.values()) > bound:
        key = min(bounds, key=lambda name: bounds[name])
        yield (
            key,
            f"an attacker who knows the exact values before noise may link {100 * bounds[key]:g} % of the "
            f"{unit_of(policy)} (usual: {100 * bound:g} %)",
        )
    wanted = usual_columns(policy)
    for entry in policy.gate.attacks.known_columns:
        if entry.risk > wanted.get(frozenset(entry.columns), 1.0):
            names = name_of(sorted(entry.columns))
            yield (
                f"gate.attacks.known_columns.{names}",
                f"an attacker who also knows {names} may link {100 * entry.risk:g} % of the "
                f"{unit_of(policy)} (usual: {100 * bound:g} %)",
            )


def _by_classes(policy: Policy) -> Iterator[tuple[str, str]]:
    for name, share in policy.gate.attacks.homogeneity.items():
        if share > usual.HOMOGENEITY:
            yield (
                f"gate.attacks.homogeneity.{name}",
                f"{100 * share:g} % of the {unit_of(policy)} may be in classes that give {name} away (usual: "
                f"{100 * usual.HOMOGENEITY:g} %)",
            )


def _by_several_records(policy: Policy) -> Iterator[tuple[str, str]]:
    attacks = policy.gate.attacks
    for name, share in attacks.person_homogeneity.items():
        if share > usual.HOMOGENEITY:
            yield (
                f"gate.attacks.person_homogeneity.{name}",
                f"for {100 * share:g} % of the people, all of their classes together may reveal {name} "
                f"(usual: {100 * usual.HOMOGENEITY:g} %)",
            )
    if attacks.dominance is not None and attacks.dominance > usual.DOMINANCE:
        yield (
            "gate.attacks.dominance",
            f"{100 * attacks.dominance:g} % of the people may be in classes of which one person has more "
            f"than half of the records (usual: {100 * usual.DOMINANCE:g} %)",
        )


def _by_demanding_nothing(policy: Policy) -> Iterator[tuple[str, str]]:
    free = {name: t >= 1 for name, t in policy.gate.t_closeness.items()}
    alone = {name: wanted.l <= 1 for name, wanted in policy.gate.l_diversity.items()}
    for kind, found in (("t_closeness", free), ("l_diversity", alone)):
        for name in (name for name, nothing in found.items() if nothing):
            yield f"gate.{kind}.{name}", f"a class may have any values of {name}: the limit demands nothing"


def _by_demanding_little(policy: Policy) -> Iterator[tuple[str, str]]:
    for name, t in policy.gate.t_closeness.items():
        if usual.T_CLOSENESS < t < 1:
            yield (
                f"gate.t_closeness.{name}",
                f"the values of {name} in a class may differ from those of the table by t = {t:g}: nearly "
                f"every class does (usual: at most {usual.T_CLOSENESS:g})",
            )
    for name, wanted in policy.gate.l_diversity.items():
        if wanted.c is not None and wanted.c > usual.RECURSIVE_C:
            yield (
                f"gate.l_diversity.{name}",
                f"in a class, one value of {name} may be {wanted.c:g} times as frequent as the rare ones "
                f"together (usual: at most {usual.RECURSIVE_C:g})",
            )


def _by_usefulness(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield the bounds on what the release may lose that are looser than those that hold without."""
    own, key = policy.gate.utility, "gate.utility"
    if own.information_loss is not None and own.information_loss > LOSS:
        yield (
            f"{key}.information_loss",
            f"generalization may lose {100 * own.information_loss:g} % of what the quasi-identifiers say "
            f"(usual: {100 * LOSS:g} %)",
        )
    for name, times in own.relative_error.items():
        if times > ERROR:
            yield (
                f"{key}.relative_error.{name}",
                f"noise may move {name} by {times:g} times its value (usual: {ERROR:g})",
            )
    if own.fully_generalized is not None and own.fully_generalized > HIDDEN:
        yield (
            f"{key}.fully_generalized",
            f"nothing may be left of {own.fully_generalized} quasi-identifiers (usual: of none)",
        )
    if own.released is not None and own.released < RELEASED:
        yield (
            f"{key}.released",
            f"{100 * (1 - own.released):g} % of the {unit_of(policy)} may be missing (usual: "
            f"{100 * (1 - RELEASED):g} %)",
        )
    yield from _by_what_is_left_of_values(own, key)


def _by_what_is_left_of_values(own: Usefulness, key: str) -> Iterator[tuple[str, str]]:
    """Yield the bounds on clipped values, on noise over the spread, and on excess records."""
    for name, share in own.clipped.items():
        if share > CLIPPED_SHARE:
            yield (
                f"{key}.clipped.{name}",
                f"{100 * share:g} % of the values of {name} may be replaced by its bounds (usual: "
                f"{100 * CLIPPED_SHARE:g} %)",
            )
    for name, times in own.error_of_spread.items():
        if times > SPREAD_ERROR:
            yield (
                f"{key}.error_of_spread.{name}",
                f"noise may move {name} by {times:g} times what its values differ by (usual: "
                f"{SPREAD_ERROR:g})",
            )
    if own.excess is not None and own.excess > EXCESS:
        yield (
            f"{key}.excess",
            f"{100 * own.excess:g} % of the records may be left out beyond rows_per_person (usual: "
            f"{100 * EXCESS:g} %)",
        )


def _by_acknowledgement(policy: Policy) -> Iterator[tuple[str, str]]:
    for one in policy.acknowledged:
        names = name_of(sorted(one.columns))
        yield (
            f"acknowledged.{names}",
            f"{names} may single out {100 * one.share:g} % of the {unit_of(policy)}; {one.who} answers for "
            f"it until {one.until}: {one.why}",
        )


def by_missing_review(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield that nobody has reviewed the policy as it is; nothing where somebody has."""
    if policy.is_reviewed:
        return
    yield (
        "reviewed",
        "no second person has confirmed the policy as it is (anon-pipeline review), so only software has "
        "looked for mistakes in it",
    )


def _demands(policy: Policy) -> Demanded:
    return {key: Advised(said) for key, said in accepted_risks(policy).items()}


def _judge_accepted(case: object, demand: Demand) -> Verdict:
    return Verdict(demand.name, Status.REFUSED, reason=str(demand.wanted))


_CHANGE_IT = "change this key of the policy, or leave it: readers of the report see what was accepted."
_HAVE_IT_REVIEWED = "let a second person confirm the policy: anon-pipeline review POLICY --who NAME."

ACCEPTED = Limit(
    "accepted",
    Words(
        "The policy's {} accepts no more risk than usual.",
        parts=(
            ("reviewed", "A second person has confirmed the policy as it is, beyond what limits measure."),
        ),
        advice=_CHANGE_IT,
        advice_for=lambda policy, of: _HAVE_IT_REVIEWED if of == "reviewed" else _CHANGE_IT,
    ),
    Judged(judge=_judge_accepted, bound=lambda wanted: None),
    demanded=_demands,
    advisable=True,
    of_policy=True,
    expectation="",
    published=Published(valued=False),
    forecast=Forecast(certain=True),
)
