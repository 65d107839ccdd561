"""The private stages of a release, each as its asset: from `raw` to `suppressed`."""

from collections.abc import Callable, Mapping
from functools import partial

import dagster as dg
import pandas as pd

from anon_pipeline.base.errors import private_stage
from anon_pipeline.base.packed_tables import Table, pack_large
from anon_pipeline.base.scratch import refuse_unfit_scratch
from anon_pipeline.orchestration.failures import as_failure
from anon_pipeline.orchestration.metadata import facts_metadata
from anon_pipeline.orchestration.partitions import partition_of_run, partitions_of
from anon_pipeline.orchestration.progress import Log
from anon_pipeline.orchestration.resources import FOLDERS, VAULT
from anon_pipeline.orchestration.stage import Stage, StageRun, asset_declaration, run_options
from anon_pipeline.orchestration.table_columns import column_metadata
from anon_pipeline.orchestration.upstream import source_reader, spark_keys
from anon_pipeline.orchestration.vault import (
    check_retainable,
    draws_in,
    published_before,
    waiting_in,
)
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy.contradictions import refuse_contradictions
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.open_questions import refuse_open_questions
from anon_pipeline.publish.accounting.booking import release_id_in
from anon_pipeline.publish.deliver.delivery import refuse_unfit_columns
from anon_pipeline.publish.draws.drawing import Opening
from anon_pipeline.publish.draws.pre_draw_checks import refuse_before_drawing
from anon_pipeline.publish.draws.preconditions import refuse_what_cannot_be_published
from anon_pipeline.publish.stream_turns import deployment_of
from anon_pipeline.sources import read_source
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.deidentify import hashing_key
from anon_pipeline.stages.own import change_stage
from anon_pipeline.stages.private import Means, Staged
from anon_pipeline.stages.vault_tables import stage_table
from anon_pipeline.windows.window_table import refuse_too_few, window_table

Reader = Callable[[StageRun], pd.DataFrame]


def raw(policy: Policy, *, read: Reader | None = None) -> Stage:
    """Accept the personal data: columns and types as the policy declares, a random id for each record.

    Args:
        read: reads the data in another way than the policy's ``source`` says.
    """

    def work(run: StageRun) -> Staged:
        """Read the data and accept it."""
        refuse_contradictions(run.policy)
        refuse_open_questions(run.policy.open_questions)
        refuse_unfit_scratch()
        folders = run.folders
        needs_key = run.policy.sample is not None or run.policy.stream is not None
        key = hashing_key(run.policy, folder=folders.sources) if needs_key else None
        reads = partial(_source, run) if read is None else partial(read, run)
        means = Means(folders.hierarchies, key, system_entropy(), observe=run.observe)
        states = waiting_in(run.vault, run.policy, folders)
        deployment = deployment_of(run.policy, folders, run.booking())
        table = window_table(run.policy, run.partition, reads, states, means, deployment)
        refuse_too_few(run.policy, len(table))
        return pipeline.raw(
            run.policy,
            pack_large(table),
            entropy=system_entropy(),
            key=key,
            where=run.where(),
            hierarchies=folders.hierarchies,
        )

    said = "The personal data, with the columns and types that the policy declares. Private."
    return Stage("raw", partial(_private, policy, "raw", said, work), takes=None)


def _source(run: StageRun) -> Table:
    if run.read_source is not None:
        return run.read_source()
    return read_source(run.policy, folder=run.folders.sources, partition=run.partition)


def deidentified(policy: Policy) -> Stage:
    """Remove, mask or hash the direct identifiers; make released columns as coarse as the policy says."""

    def work(run: StageRun, before: Staged) -> Staged:
        """Read the key and remove the identifiers."""
        key = hashing_key(run.policy, folder=run.folders.sources)
        return pipeline.deidentified(run.policy, before, key=key, hierarchies=run.folders.hierarchies)

    said = "Direct identifiers removed, masked or hashed; released columns rounded or bounded. Private."
    return private(policy, "deidentified", said, work)


def k_anonymized(policy: Policy) -> Stage:
    """Generalize the quasi-identifiers until every class has k records."""

    def work(run: StageRun, before: Staged) -> Staged:
        """Recode the table of `deidentified`."""
        return pipeline.k_anonymized(
            run.policy, before, hierarchies=run.folders.hierarchies, observe=run.observe
        )

    said = "Quasi-identifiers generalized: each class has k records; suppressed ones are kept."
    return private(policy, "k_anonymized", said, work)


def perturbed(policy: Policy) -> Stage:
    """Add noise to the perturb columns; its ε is booked in the ledger before it is drawn."""
    said = "Noise on the perturb columns, scaled to each class. Private."
    return private(policy, "perturbed", said, _perturb)


def _perturb(run: StageRun, before: Staged) -> Staged:
    refuse_contradictions(run.policy)
    refuse_open_questions(run.policy.open_questions)
    check_retainable(run.vault, run.policy)
    refuse_what_cannot_be_published(run.policy, run.folders, partition=run.partition)
    memory = published_before(run.policy, run.folders, partition=run.partition, manager=run.vault)
    refuse_before_drawing(run.policy, before)
    refuse_unfit_columns(run.policy, run.folders, run.partition, before)
    booked = run.booking()
    opened = Opening(booked, draws_in(run.vault, run.policy, run.folders, run.partition))
    with opened.fail_on_error():
        return pipeline.perturbed(
            run.policy,
            before,
            entropy=system_entropy(),
            memory=None if memory is None else booked.only_booked(memory),
            opens=opened,
        )


def shuffled(policy: Policy) -> Stage:
    """Permute the records uniformly."""

    def work(run: StageRun, before: Staged) -> Staged:
        """Shuffle the table; a release whose shuffling fails is marked as failed."""
        with run.booking().fail_on_error(release_id_in(before.facts)):
            return pipeline.shuffled(run.policy, before, entropy=system_entropy())

    return private(policy, "shuffled", "The records in random order. Private.", work)


def suppressed(policy: Policy) -> Stage:
    """Suppress records that a confidence interval would single out, and classes beyond t or l."""

    def work(run: StageRun, before: Staged, originals: Staged) -> Staged:
        """Suppress what is left to suppress; a release for which that fails is marked as failed."""
        with run.booking().fail_on_error(release_id_in(before.facts)):
            return pipeline.suppressed(run.policy, before, originals, hierarchies=run.folders.hierarchies)

    said = "Without records that a confidence interval would single out. Private."
    return private(policy, "suppressed", said, work, needs={"originals": "k_anonymized"})


def own_stage(
    policy: Policy, name: str, change: Callable[[pd.DataFrame], pd.DataFrame], *, meaning: str
) -> Stage:
    """Change the personal data before it is generalized, such as by top-coding.

    Args:
        name: begins with ``own_``.
        change: (n, columns) table in, table out, see `stages.own.change_stage`.
    """
    return private(policy, name, meaning, lambda run, before: change_stage(before, name, change))


def private(
    policy: Policy,
    name: str,
    meaning: str,
    work: Callable[..., Staged],
    *,
    needs: Mapping[str, str] | None = None,
) -> Stage:
    """Return a private stage: its table goes to the vault, its facts to the metadata.

    Args:
        work: from the run and the table of the stage before (``before``) to the stage's table.
        needs: further stages whose tables `work` takes, by argument.
    """
    return Stage(name, partial(_private, policy, name, meaning, work), needs=needs or {})


def _private(
    policy: Policy, stage: str, meaning: str, work: Callable[..., Staged], ins: Mapping[str, str]
) -> dg.AssetsDefinition:
    partitions, columns = partitions_of(policy), column_metadata(policy, stage, _main(ins))

    declared: Callable[[Callable[..., Staged]], dg.AssetsDefinition] = dg.asset(
        **asset_declaration(policy, stage, meaning, ins),
        **run_options(policy),
        io_manager_key=VAULT,
        required_resource_keys={FOLDERS, VAULT, *spark_keys(policy, stage)},
    )

    @declared
    def private_asset(context: dg.AssetExecutionContext, **tables: Staged) -> Staged:
        """Do the work of a stage on its tables, and report its facts as metadata."""
        with as_failure(), private_stage(stage):
            partition = partition_of_run(context, partitions)
            log = Log(context.log.info)
            folders = getattr(context.resources, FOLDERS).locations()
            vault = getattr(context.resources, VAULT)
            reads = source_reader(context, policy, partition, stage)
            run = StageRun(policy, folders, partition, context.run.run_id, vault, log, reads)
            run.folders.confine(policy, partition)
            where = run.where()
            before = {name: stage_table(policy, table, ins[name], where) for name, table in tables.items()}
            staged = work(run, **before)
            context.add_output_metadata(facts_metadata(stage, staged.facts.get(stage, {})) | columns)
            return staged

    return private_asset


def _main(ins: Mapping[str, str]) -> list[str]:
    """Return the stage that the rows of a table come from, not those that it is compared with."""
    return [before for argument, before in ins.items() if argument == "before"]
