"""What publishing would refuse whatever the noise: looked at before a draw is made, which costs its ε."""

from __future__ import annotations

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.base.record_numbers import RecordNumbers
from anon_pipeline.evidence.population_risk import coded_population
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.deliver.delivery import refuse_undeliverable
from anon_pipeline.publish.destination import refuse_private_place
from anon_pipeline.publish.manifest.signatures import signing_key
from anon_pipeline.publish.writer import prepare
from anon_pipeline.sources.population import read_population


def refuse_what_cannot_be_published(
    policy: Policy, locations: Locations, *, partition: str | None = None
) -> None:
    """Refuse a release that could not be published; nothing is written, booked or spent.

    Raises:
        PublishError: the destination cannot be written, is not the folder of this release, or is private;
            where the release is delivered to does not answer, or holds something else.
        InputError: the policy signs and there is no usable key; the population cannot be read, or has values
            that its hierarchies lack. Of several problems, all are named.
    """
    problems, names, numbers, destination = list[str](), list[str](), list[RecordNumbers](), None
    try:
        refuse_private_place(policy, locations)
        prepare(locations.release(policy, partition), policy.name)
        refuse_undeliverable(policy, locations, partition=partition)
    except PublishError as error:
        destination = error
    for look in (_at_key, _at_population):
        try:
            look(policy, locations)
        except InputError as error:
            problems += error.problems
            names += error.withheld_names()
            numbers += error.withheld_numbers()
    if destination is not None and not problems:
        raise destination
    if problems:
        first = [] if destination is None else [str(destination)]
        raise InputError([*first, *problems], names=names, records=numbers)


def _at_key(policy: Policy, locations: Locations) -> None:
    signing_key(policy.publish.sign, folder=locations.sources)


def _at_population(policy: Policy, locations: Locations) -> None:
    population = read_population(policy, folder=locations.sources, hierarchies=locations.hierarchies)
    if population is not None:
        coded_population(policy, population, hierarchies=locations.hierarchies)
