"""The section that says how quasi-identifiers are generalized: recoder, loss, limits and their options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from anon_pipeline.base.spelling import look_alikes
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.catalog.losses import DEFAULT_LOSS, LABELED, LOSSES, WEIGHED
from anon_pipeline.catalog.recoders import DEFAULT_RECODER, RECODERS, names_where, recoder_of
from anon_pipeline.policy.columns import Generalize, Identifier, columns_of
from anon_pipeline.policy.fields import Real, Share, Strict, Whole
from anon_pipeline.policy.frozen_mapping import FrozenMapping, Keyed
from anon_pipeline.policy.kind_names import LossName, Preference, RecoderName
from anon_pipeline.policy.marks import AFTER, LATER, SHOWN, Fits, Names
from anon_pipeline.policy.protection import LESS, MORE, NEUTRAL

CELLS = names_where(lambda recoder: recoder.family.cells)
PREFERRING = names_where(lambda recoder: recoder.prefers)


def _names(option: str) -> tuple[str, ...]:
    """Name the recoders that a key of this section is for."""
    return names_where(lambda recoder: option in recoder.options)


def _choice_problems(prefer: str, sections: Mapping[str, Any]) -> Iterator[str]:
    recoder = sections["anonymize"].recoder
    if prefer != "loss" and recoder not in PREFERRING:
        yield f"needs a recoder that chooses between nodes ({', '.join(PREFERRING)}), got {recoder}"


def _blanking_problems(suppress: str, sections: Mapping[str, Any]) -> Iterator[str]:
    recoder = sections["anonymize"].recoder
    if suppress == "cells" and recoder not in CELLS:
        yield f"cells needs a full-domain recoder ({', '.join(CELLS)}), got {recoder}"


def _weight_problems(weights: Mapping[str, float], sections: Mapping[str, Any]) -> Iterator[str]:
    loss = sections["anonymize"].loss
    if weights and loss not in WEIGHED:
        yield f"must be left out with loss: {loss}, which weighs no columns"


def _label_problems(target: str | None, sections: Mapping[str, Any]) -> Iterator[str]:
    if (target is None) == (sections["anonymize"].loss in LABELED):
        yield f"must be given with loss: {' or '.join(LABELED)}, and only with it"
    if target is None:
        return
    column = sections["columns"].get(target)
    dropped = isinstance(column, Identifier) and not IDENTIFIER_ACTIONS[column.action].released
    if target not in sections["columns"] or dropped:
        yield f"must name a column that is released, got {target}"


def _level_problems(levels: Mapping[str, int] | None, sections: Mapping[str, Any]) -> Iterator[str]:
    if "levels" not in recoder_of(sections["anonymize"].recoder).options:
        return
    without = [name for name in columns_of(sections["columns"], Generalize) if name not in (levels or {})]
    if without:
        yield f"must name every generalize column, got none for {', '.join(without)}"


def _class_problems(classes: str | None, sections: Mapping[str, Any]) -> Iterator[str]:
    if classes is None:
        if "classes" in recoder_of(sections["anonymize"].recoder).options:
            yield "must name the column of the source that says which records are a class, got none"
    elif classes in sections["columns"]:
        yield "must name a column that has no role under columns: it is read, and never released"
    elif not classes.isprintable() or look_alikes([classes], sections["columns"]):
        yield "must have a name of printable characters that looks like none of columns"


class LDiversity(Strict):
    """One of three kinds of l-diversity; recursive is (c, l)."""

    # AFTER is for the gate's: what a recoder keeps binds, by the marks of anonymize.l_diversity
    kind: Annotated[Literal["distinct", "entropy", "recursive"], SHOWN, AFTER] = Field(
        "distinct", description="distinct: l values; entropy: exp(H) ≥ l; recursive: r₁ < c·(r_l + …)."
    )
    l: Annotated[Real, SHOWN, AFTER, MORE] = Field(ge=1, description="How diverse each class must be.")  # noqa: E741 - the field's own letter
    c: Annotated[Real | None, SHOWN, AFTER, LESS] = Field(
        None, gt=0, description="c of recursive (c, l)-diversity."
    )

    @model_validator(mode="after")
    def _fits(self) -> LDiversity:
        if (self.kind == "recursive") != (self.c is not None):
            raise ValueError("c must be given with kind: recursive, and only with it")
        if self.kind != "entropy" and self.l != int(self.l):
            raise ValueError(f"l must be a whole number for kind: {self.kind}, got {self.l:g}")
        return self


class Anonymize(Strict):
    """How quasi-identifiers are generalized."""

    k: Annotated[Whole, SHOWN, MORE] = Field(ge=2, description="Records in the smallest class.")
    recoder: Annotated[RecoderName, SHOWN] = Field(
        DEFAULT_RECODER,
        description="What chooses the generalized values. "
        + "; ".join(f"{one.name}: {one.words}" for one in RECODERS.values())
        + ".",
    )
    prefer: Annotated[Preference, SHOWN, NEUTRAL, Fits(_choice_problems)] = Field(
        "loss", description=f"Between nodes, for {', '.join(PREFERRING)}; ties by loss."
    )
    suppress: Annotated[Literal["records", "cells"], SHOWN, Fits(_blanking_problems)] = Field(
        "records",
        description="records: suppress whole records; cells: only single cells of them where that keeps all "
        "limits. For full-domain recoders.",
    )
    gamma: Annotated[Real | None, SHOWN, NEUTRAL] = Field(
        None,
        ge=0,
        description=f"For {', '.join(_names('gamma'))}: how willingly clusters grow beyond k. Default: 0.2.",
    )
    levels: Annotated[
        Keyed[Annotated[Whole, Field(ge=0)]] | None,
        SHOWN,
        NEUTRAL,
        LATER,
        Names("generalize"),
        Fits(_level_problems, "columns"),
    ] = Field(
        None,
        description=f"For {', '.join(_names('levels'))}: generalize column → level of its hierarchy; 0: the "
        "value itself.",
    )
    classes: Annotated[str | None, SHOWN, LATER, Fits(_class_problems, "columns")] = Field(
        None,
        min_length=1,
        description=f"For {', '.join(_names('classes'))}: column of the source, without a role, whose equal "
        "values are one class.",
    )
    loss: Annotated[LossName, SHOWN, NEUTRAL] = Field(
        DEFAULT_LOSS,
        description="Information loss to minimize. "
        + "; ".join(f"{loss.name}: {loss.words}" for loss in LOSSES.values())
        + ".",
    )
    weights: Annotated[
        Keyed[Annotated[Real, Field(gt=0)]],
        SHOWN,
        NEUTRAL,
        Names("generalize"),
        Fits(_weight_problems, "columns"),
    ] = Field(
        default_factory=FrozenMapping,
        description=f"Generalize column → weight in {', '.join(WEIGHED)}. Default: 1 each.",
    )
    target: Annotated[str | None, SHOWN, NEUTRAL, Fits(_label_problems, "columns")] = Field(
        None, description=f"Released column that holds the class label, for loss: {' or '.join(LABELED)}."
    )
    most_nodes: Annotated[Whole, SHOWN, NEUTRAL] = Field(
        10_000_000, ge=1, description="A lattice with more nodes is refused instead of searched."
    )
    suppression_limit: Annotated[Real, SHOWN, LESS] = Field(
        0.05, ge=0, lt=1, description="Share of the records that may be suppressed to keep the limits."
    )
    t_closeness: Annotated[Keyed[Share] | None, SHOWN, Names("sensitive")] = Field(
        None,
        description="Sensitive column → largest distance that the recoder leaves between a class and the "
        "whole input. Default: the gate's.",
    )
    l_diversity: Annotated[Keyed[LDiversity] | None, SHOWN, Names("sensitive")] = Field(
        None, description="Sensitive column → how diverse the recoder makes each class. Default: the gate's."
    )

    @model_validator(mode="after")
    def _fits(self) -> Anonymize:
        own = recoder_of(self.recoder).options
        for option in sorted({name for recoder in RECODERS.values() for name in recoder.options} - own):
            if getattr(self, option) is not None:
                fitting = ", ".join(_names(option))
                raise ValueError(f"{option} must be given only with recoder: {fitting}, got {self.recoder}")
        return self
