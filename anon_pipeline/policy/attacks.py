"""The limits on attacks: what an attacker of each kind may get right, in ``gate.attacks``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from anon_pipeline.catalog.recoders import names_where
from anon_pipeline.catalog.sources import DEFAULT_FORMAT
from anon_pipeline.policy.columns import (
    Generalize,
    Insensitive,
    Perturb,
    PerturbCategories,
    Sensitive,
    columns_of,
)
from anon_pipeline.policy.fields import LocalPath, Plain, Real, Share, Strict, Whole
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.policy.frozen_mapping import FrozenMapping, Keyed
from anon_pipeline.policy.kind_names import FileFormat
from anon_pipeline.policy.marks import AFTER, LATER, NEEDS_NOISE, SHOWN, BeforeMaking, Below, Fits, Names
from anon_pipeline.policy.protection import JUDGED, MORE, NEUTRAL
from anon_pipeline.policy.whole_column_rules import needs_distribution

COVERING = names_where(lambda recoder: recoder.family.releases != "means")
"""Recoders whose released values say which values they stand for; a mean does not."""


def _perturb(columns: Mapping[str, Any]) -> str:
    """Name the role perturb, with numbers where there are columns of categories, too."""
    return "perturb and numbers" if columns_of(columns, PerturbCategories) else "perturb"


def _one_column(averaging: Any, sections: Mapping[str, Any]) -> Iterator[str]:
    noisy = len(columns_of(sections["columns"], Perturb))
    if averaging is not None and noisy != 1:
        yield f"needs exactly one column with the role {_perturb(sections['columns'])}, got {noisy}"


def _match_problems(match: tuple[Mapping[str, float], ...], sections: Mapping[str, Any]) -> Iterator[str]:
    columns = sections["columns"]
    kinds = (Generalize, Perturb, type(None))
    quasi = {name for name, column in columns.items() if isinstance(column, kinds)}
    if wrong := sorted(set(itertools.chain(*match)) - quasi):
        yield f"must name columns with the role generalize or {_perturb(columns)}, got {', '.join(wrong)}"


def _covering_problems(population: Any, sections: Mapping[str, Any]) -> Iterator[str]:
    recoder = getattr(sections.get("anonymize"), "recoder", COVERING[0])
    if population is not None and recoder not in COVERING:
        yield f"needs a recoder that releases levels or ranges ({', '.join(COVERING)}), got {recoder}"


def _known_problems(known: tuple[KnownColumns, ...], sections: Mapping[str, Any]) -> Iterator[str]:
    columns = sections["columns"]
    kinds = (Sensitive, Insensitive, PerturbCategories, type(None))
    named = set(itertools.chain(*(entry.columns for entry in known)))
    if wrong := sorted(name for name in named if not isinstance(columns.get(name, ""), kinds)):
        yield (
            f"must name columns with the role sensitive or insensitive, or categories that are perturbed, "
            f"got {', '.join(wrong)}"
        )
    sets = [frozenset(entry.columns) for entry in known]
    if repeated := len(sets) - len(set(sets)):
        yield f"must name each set of columns once, got {repeated} more"


def _of_records(wanted: Any, sections: Mapping[str, Any]) -> Iterator[str]:
    if wanted is not None and sections.get("person") is not None:
        yield "counts records one by one, and must be left out with person"


def _of_people(wanted: Any, sections: Mapping[str, Any]) -> Iterator[str]:
    if wanted not in (None, {}) and sections.get("person") is None:
        yield "is about people with several records, and needs person"


class Averaging(Strict):
    """What an attacker who averages several releases of the same records may link."""

    releases: Annotated[Whole, SHOWN, AFTER, MORE] = Field(
        ge=2, le=1_000, description="Releases, each with noise of its own."
    )
    risk: Annotated[Share, SHOWN, AFTER] = Field(
        description="Largest expected share of the records that are linked by the mean."
    )


class Linkage(Strict):
    """What attackers who compare what they know with every released record may link."""

    exact: Annotated[Share | None, SHOWN, AFTER, Fits(_of_records)] = Field(
        None, description="Largest share linked by equal quasi-identifiers."
    )
    threshold: Annotated[Share | None, SHOWN, AFTER, Fits(_of_records)] = Field(
        None, description="Largest share linked by similarity."
    )
    similarity: Annotated[Real, SHOWN, AFTER] = Field(
        0.9, gt=0, le=1, description="For threshold: mean similarity from which two records match."
    )
    rules: Annotated[Share | None, SHOWN, AFTER, Fits(_of_records)] = Field(
        None, description="Largest share linked by the rules of match."
    )
    match: Annotated[tuple[Keyed[Share], ...], SHOWN, AFTER, Fits(_match_problems, "columns")] = Field(
        (),
        description="For rules: each rule gives a least similarity per column; two records match if any rule "
        "holds.",
    )
    probabilistic: Annotated[Share | None, SHOWN, AFTER, Fits(_of_records)] = Field(
        None, description="Largest share linked by the agreement ratio, its probabilities known."
    )

    @model_validator(mode="after")
    def _fits(self) -> Linkage:
        if (self.rules is None) != (not self.match):
            raise ValueError("rules and match must be given together, or neither")
        if not all(self.match):
            raise ValueError("match must name a column in each rule")
        return self


class KnownColumns(Strict):
    """What an attacker who also knows the exact values of some columns of the release may link."""

    columns: Annotated[tuple[Plain, ...], SHOWN, AFTER, NEUTRAL] = Field(
        min_length=1,
        description="Columns that are known together: sensitive, insensitive, drawn categories.",
    )
    risk: Annotated[Share, SHOWN, AFTER] = Field(
        description="Largest share of the released records that may be correctly linked, on average over the "
        "noise. 1: measured only."
    )

    @model_validator(mode="after")
    def _once(self) -> KnownColumns:
        if len(set(self.columns)) != len(self.columns):
            raise ValueError("columns must name each column once")
        return self


class PopulationLimits(Strict):
    """What attackers may guess correctly who know the population that the records are a sample of."""

    path: Annotated[LocalPath, Below("sources"), AFTER] = Field(
        description="File with a record for each person, relative to the folder of sources; of its columns "
        "those with the role generalize are read."
    )
    format: Annotated[FileFormat, AFTER] = Field(DEFAULT_FORMAT, description="File format.")
    options: Annotated[SourceOptions, AFTER] = Field(SourceOptions(), description="CSV options.")
    limits: Annotated[Limits, AFTER, NEUTRAL] = Field(Limits(), description="How large the file may be.")
    journalist_risk: Annotated[Share | None, SHOWN, AFTER] = Field(
        None, description="Largest probability of naming the person of a released record."
    )
    marketer_risk: Annotated[Share | None, SHOWN, AFTER] = Field(
        None, description="Largest share of the released records that are named correctly on average."
    )

    @model_validator(mode="after")
    def _limited(self) -> PopulationLimits:
        if self.journalist_risk is None and self.marketer_risk is None:
            raise ValueError("at least one of journalist_risk and marketer_risk must be given")
        return self


class Attacks(Strict):
    """The limits on attacks; each is judged where it is set."""

    attacker_success: Annotated[Share | None, SHOWN, AFTER, NEEDS_NOISE, Fits(_of_records)] = Field(
        None,
        description="Largest share of correct guesses. Like linking_risk, but a tie counts by its share.",
    )
    assignment_risk: Annotated[Share | None, SHOWN, AFTER, NEEDS_NOISE, Fits(_of_records)] = Field(
        None,
        description="Largest share linked by the best of three attacks: nearest original, cheapest "
        "one-to-one assignment, most probable original.",
    )
    expected_linking_risk: Annotated[
        Share | None, SHOWN, AFTER, NEEDS_NOISE, Fits(_of_records), Fits(needs_distribution, "every column")
    ] = Field(None, description="Largest expected linking risk over all noise that could be drawn.")
    averaging: Annotated[
        Averaging | None,
        Fits(_one_column, "every column"),
        Fits(_of_records),
        Fits(needs_distribution, "every column"),
    ] = Field(None, description="Limit on the mean of several releases. Needs exactly one perturb column.")
    linkage: Linkage = Field(Linkage(), description="Limits on record linkage.")
    known_columns: Annotated[
        tuple[KnownColumns, ...],
        SHOWN,
        AFTER,
        JUDGED,
        Fits(_known_problems, "columns"),
        BeforeMaking("anon_pipeline.policy.contradictions:unlimited_categories"),
    ] = Field(
        (),
        description="Bounds for sets of columns that an attacker knows; each replaces the default of its "
        "set. Defaults exist for each insensitive column and, as advice, for all columns "
        "together.",
    )
    homogeneity: Annotated[Keyed[Share], SHOWN, AFTER, Names("sensitive")] = Field(
        default_factory=FrozenMapping,
        description="Sensitive column → largest share of the records in classes with a single value of it.",
    )
    person_homogeneity: Annotated[Keyed[Share], SHOWN, AFTER, LATER, Names("sensitive"), Fits(_of_people)] = (
        Field(
            default_factory=FrozenMapping,
            description="Sensitive column → largest share of the people with one value of it, the only one "
            "that all of their classes have. Needs person.",
        )
    )
    dominance: Annotated[Share | None, SHOWN, AFTER, LATER, Fits(_of_people)] = Field(
        None,
        description="Largest share of the people in classes of which one person has more than half of the "
        "records. Needs person.",
    )
    skewness: Annotated[Keyed[Annotated[Real, Field(ge=1)]], SHOWN, AFTER, Names("sensitive")] = Field(
        default_factory=FrozenMapping,
        description="Sensitive column → how many times as frequent as in the whole input a value may be in a "
        "class.",
    )
    similarity: Annotated[Keyed[Share], SHOWN, AFTER, Names("sensitive")] = Field(
        default_factory=FrozenMapping,
        description="Sensitive column → least distance of the two most different values of each class.",
    )
    prosecutor_risk: Annotated[Share | None, SHOWN, AFTER] = Field(
        None, description="Largest probability of picking a given person's record."
    )
    marketer_risk: Annotated[Share | None, SHOWN, AFTER] = Field(
        None, description="Largest share of correct guesses over all classes."
    )
    population: Annotated[PopulationLimits | None, Fits(_covering_problems, "columns")] = Field(
        None, description="Limits that need a table of the whole population."
    )
    sample_uniques: Annotated[Share | None, SHOWN, AFTER, Fits(_of_records)] = Field(
        None, description="Largest share of records that are unique in their quasi-identifiers."
    )
    minimal_uniques: Annotated[Share | None, SHOWN, AFTER, Fits(_of_records)] = Field(
        None, description="Largest share of the records that up to three quasi-identifiers single out."
    )
