"""(k, ε)-anonymity, stage by stage: a policy and a table in, a table and its facts out.

This is Algorithm 1 of [KE], followed by its section V-C; each function is one stage, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.canonical import canonical_form
from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.errors import InputError, private_stage
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.base.packed_tables import Table, insert_column, with_columns
from anon_pipeline.base.rows import keep_rows, take_rows
from anon_pipeline.base.threads import side_by_side_unless_huge
from anon_pipeline.encode.categories import noisy_columns, noisy_units
from anon_pipeline.encode.codes import CLASS, GIVEN, RECORD, code_quasi_identifiers, mark_incomplete
from anon_pipeline.encode.noise import draw_noise
from anon_pipeline.evidence.clipped_values import clipped_shares
from anon_pipeline.evidence.evidence import evidence_from, people_in
from anon_pipeline.evidence.identifier_values import held_identifiers
from anon_pipeline.evidence.listing_labels import listing_labels
from anon_pipeline.evidence.lost_values import lost_by_recoding
from anon_pipeline.evidence.measures import class_limits, confident_originals
from anon_pipeline.evidence.released_columns import following_columns
from anon_pipeline.evidence.told_originals import told_originals
from anon_pipeline.perturb.entropy import Entropy, distinct_ids
from anon_pipeline.perturb.keys import Words, fresh_key
from anon_pipeline.policy.model import Policy
from anon_pipeline.recode import recode
from anon_pipeline.risk.suppression import suppress_unconfident
from anon_pipeline.sources.value_maps import value_map_digests
from anon_pipeline.stages.class_column import number_classes
from anon_pipeline.stages.coarsen import coarsen
from anon_pipeline.stages.deidentify import deidentify, identifier_facts
from anon_pipeline.stages.facts.records import (
    DeidentifiedFacts,
    PerturbedFacts,
    RawFacts,
    ShuffledFacts,
)
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.history.sticky import composition, epsilon_to_book, sticky_noise
from anon_pipeline.stages.input_check import accepted_input, with_later_problems
from anon_pipeline.stages.lineage import Lineage, Where
from anon_pipeline.stages.noise_input import noise_input, without_numbers
from anon_pipeline.stages.persons import with_people
from anon_pipeline.stages.private import Chain, Drawn, Means, Opens, Staged, refuse_strangers, stage_result
from anon_pipeline.stages.recoded_table import order_by_content, recoded_table
from anon_pipeline.stages.recoder_task import recoding_facts, recoding_task, refuse_too_incomplete
from anon_pipeline.stages.repeated_people import repeated_people
from anon_pipeline.stages.sample import take_sample
from anon_pipeline.stages.shuffle import permutation
from anon_pipeline.stages.suppression import refuse_nothing_left, suppression_facts


@private_stage("raw")
def raw(
    policy: Policy,
    frame: Table,
    *,
    entropy: Entropy,
    key: bytes | None = None,
    where: Where | None = None,
    hierarchies: Path = Path(),
) -> Staged:
    """Clean and accept the personal data: columns and types as declared, a random id for each record.

    With ``sample`` all records are accepted, and those of the sample are what comes in.

    Args:
        frame: (n, columns) personal data.
        key: that of ``deidentify``; None where the policy does not need it here.
        where: the tables belong; None: in memory, a release of one piece.
        hierarchies: folder of the value maps.
    Raises:
        InputError: the data does not fit the policy; all mistakes, see `accepted_input`.
    """
    accepted = accepted_input(policy, frame, hierarchies=hierarchies)
    given = number_classes(policy, frame)
    del frame
    if given is not None:
        accepted = insert_column(accepted, 0, GIVEN, given)
    accepted = take_sample(policy, accepted, key=key)
    accepted = insert_column(accepted, 0, RECORD, distinct_ids(len(accepted), entropy=entropy))
    return_freed_memory(len(accepted))
    facts = RawFacts(
        len(accepted),
        len(policy.columns),
        int(mark_incomplete(accepted, policy).sum()),
        repeated_people(accepted, policy),
        value_map_digests(policy, hierarchies),
    )
    begun = Lineage(where or Where(None, policy.name), {})
    return stage_result(policy, Staged(accepted, {}, begun), accepted, facts)


@private_stage("deidentified")
def deidentified(policy: Policy, before: Staged, *, key: bytes | None, hierarchies: Path = Path()) -> Staged:
    """Remove, mask or hash the direct identifiers (Algorithm 1, line 4); note whose record it is.

    What is released without noise becomes as coarse as the policy says, before anything is measured on it.
    With ``person`` and ``rows_per_person``, records of a person beyond so many are left out.
    """
    accepted = before.frame
    without = deidentify(accepted, policy, key=key)
    try:
        coarse = coarsen(without, policy, hierarchies=hierarchies)
    except InputError as error:
        raise with_later_problems(error, policy, accepted, hierarchies) from None
    listing = listing_labels(accepted, policy, hierarchies=hierarchies)
    after, kept, people = with_people(policy, accepted, coarse, key=key)
    return_freed_memory(len(after))
    looks: list[Callable[[], Any]] = [
        partial(held_identifiers, accepted, coarse, policy),
        partial(following_columns, after, policy),
    ]
    holding, following = side_by_side_unless_huge(looks, records=len(after))
    facts = DeidentifiedFacts(
        **identifier_facts(policy),
        **people,
        listing=listing,
        holding=holding,
        following=following,
        clipped=clipped_shares(keep_rows(accepted, kept), policy),
    )
    return stage_result(policy, before, after, facts)


@private_stage("k_anonymized")
def k_anonymized(
    policy: Policy,
    before: Staged,
    *,
    hierarchies: Path = Path(),
    observe: Observer = ignore,
    telling: bool = True,
) -> Staged:
    """Generalize the k-quasi-identifiers until every class has k records (Algorithm 1, line 5).

    All n records stay, those that are suppressed with class −1: what comes later is measured against them.
    They keep their order, and their classes do not depend on it.

    Args:
        policy: its section ``anonymize``.
        before: the table of `deidentified`.
        observe: called now and then with how far a long search is.
        telling: whether to look for columns that tell originals, and for categories that were lost, which
            only a release is judged by.
    Raises:
        InputError: values outside their hierarchy.
        InfeasibleError: no recoding within the suppression limit.
    """
    return_freed_memory(len(before.frame))
    frame, places = order_by_content(policy, before.frame)
    gone = mark_incomplete(frame, policy)
    refuse_too_incomplete(policy, frame, gone)
    coded = code_quasi_identifiers(frame, policy, folder=hierarchies)
    task = recoding_task(policy, frame, coded, gone=gone, hierarchies=hierarchies, observe=observe)
    codes = narrow_integers(coded.codes)
    del coded
    return_freed_memory(len(frame))
    recoding = recode(task)
    del task
    return_freed_memory(len(frame))
    after, classes = recoded_table(policy, frame, recoding, gone=gone)
    people = people_in(frame, policy)
    facts = recoding_facts(policy, recoding, classes, gone=gone, people=people, hierarchies=hierarchies)
    if telling:
        facts = replace(
            facts,
            telling=told_originals(frame, policy, codes, classes.labels),
            lost=lost_by_recoding(frame, policy, classes.labels),
        )
    return stage_result(policy, before, take_rows(after, places), facts)


@private_stage("perturbed")
def perturbed(
    policy: Policy,
    before: Staged,
    *,
    entropy: Entropy,
    memory: Memory | None = None,
    opens: Opens | None = None,
) -> Staged:
    """Add noise to the ε-quasi-identifiers, by default scaled to each class (Algorithm 1, lines 6 to 9).

    Suppressed records end here. Without perturb columns the table passes through. With ``republish: sticky``
    a value that was published under equal original value and terms keeps its noise, and spends no ε.

    Args:
        policy: ε, its split, the grids.
        before: the table of `k_anonymized`.
        entropy: source of random words; of the noise only where nothing keeps its draw.
        memory: what was published before; needed with ``record_key``.
        opens: finds or makes the draw that all noise comes from; None: a fresh one in each call.
    """
    whole, in_class = canonical_form(without_numbers(before.frame)), (before.frame[CLASS] >= 0).to_numpy()
    return_freed_memory(len(in_class))
    kept = take_rows(before.frame, np.flatnonzero(in_class))
    labels = kept[CLASS].to_numpy(np.int64)
    classes = EquivalenceClasses(labels, np.bincount(labels).astype(np.int64))
    originals = noisy_units(kept, policy)
    stays = sticky_noise(policy, kept, originals, memory=memory)
    if opens is None:
        drawn = Drawn(fresh_key(entropy))
    else:
        drawn = opens(epsilon_to_book(policy, stays), noise_input(whole, in_class, stays, facts=before.facts))
    words = Words(drawn.key, whole.places[in_class])
    values, described = draw_noise(policy, originals, classes, words=words)
    released = noisy_columns(np.where(stays.known, stays.noisy, values), policy)
    facts = PerturbedFacts(
        passed_through=not policy.noisy,
        epsilon=policy.noise_epsilon,
        mechanism=policy.mechanism_of_numbers,
        columns=described,
        seeded=drawn.key.seeded,
        republish="fresh" if policy.perturb is None else policy.perturb.republish,
        composition=composition(policy, stays, memory=memory),
        release_id=drawn.release_id,
    )
    return stage_result(policy, before, with_columns(kept, released.items()), facts)


@private_stage("shuffled")
def shuffled(policy: Policy, before: Staged, *, entropy: Entropy) -> Staged:
    """Permute the records uniformly (Algorithm 1, line 10): their order says nothing about the input's."""
    order = permutation(len(before.frame), entropy=entropy)
    facts = ShuffledFacts(len(order), entropy.seeded)
    return stage_result(policy, before, take_rows(before.frame, order), facts)


@private_stage("suppressed")
def suppressed(policy: Policy, before: Staged, originals: Staged, *, hierarchies: Path = Path()) -> Staged:
    """Suppress what a confidence interval would still single out (section V-C), then classes beyond t or l.

    Args:
        policy: confidence, k, and the gate's limits on classes.
        before: the shuffled table.
        originals: the table of `k_anonymized`.
    Raises:
        InputError: the originals are not those that the table was made from.
        InfeasibleError: nothing would be left.
    """
    refuse_strangers(before, originals)
    evidence = evidence_from(before.frame, policy, originals=originals.frame, hierarchies=hierarchies)
    return_freed_memory(len(before.frame))
    counts = None
    if policy.suppress.confidence is not None:
        counts = narrow_integers(confident_originals(evidence, policy, cap=policy.anonymize.k))
        return_freed_memory(len(before.frame))
    found = suppress_unconfident(
        counts,
        evidence.classes.labels,
        k=policy.anonymize.k,
        limits=class_limits(evidence, policy),
        people=evidence.people,
    )
    refuse_nothing_left(policy, found)
    kept = take_rows(before.frame, np.flatnonzero(found.keep))
    facts = suppression_facts(policy, found, kept, evidence=evidence, records=len(originals.frame))
    return stage_result(policy, before, kept, facts)


def run(
    policy: Policy,
    frame: Table,
    means: Means,
    *,
    without_identifiers: Callable[[Staged], None] = lambda deidentified: None,
    worth_drawing: Callable[[Staged], None] = lambda k_anonymized: None,
) -> Chain:
    """Run all stages in memory; nothing is written.

    Args:
        frame: (n, columns) personal data.
        means: hierarchies, key, entropy, who observes.
        without_identifiers: called with the table of `deidentified`; raises to end the run before any noise
            is drawn.
        worth_drawing: the same, with the table of `k_anonymized`.
    Raises:
        InputError, InfeasibleError: see the stages.
        StageCrashed: a bug, without its message.
    """
    means.observe(Step("raw"))
    staged = raw(
        policy,
        frame,
        entropy=means.entropy,
        key=means.key,
        where=means.where,
        hierarchies=means.hierarchies,
    )
    del frame  # the identifiers go with it: the rest of the run needs their memory
    means.observe(Step("deidentified"))
    staged = deidentified(policy, staged, key=means.key, hierarchies=means.hierarchies)
    without_identifiers(staged)
    return_freed_memory(len(staged.frame))
    means.observe(Step("k_anonymized"))
    recoded = k_anonymized(policy, staged, hierarchies=means.hierarchies, observe=means.observe)
    worth_drawing(recoded)
    return_freed_memory(len(recoded.frame))
    means.observe(Step("perturbed"))
    staged = perturbed(policy, recoded, entropy=means.entropy, memory=means.memory, opens=means.opens)
    means.observe(Step("shuffled"))
    staged = shuffled(policy, staged, entropy=means.entropy)
    means.observe(Step("suppressed"))
    return Chain(recoded, suppressed(policy, staged, recoded, hierarchies=means.hierarchies))
