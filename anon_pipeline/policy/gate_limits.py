"""The section ``gate``: the limits that the release must keep, but those on attacks.

Limits on attacks are in `policy.attacks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from anon_pipeline.catalog.entries import LimitKey
from anon_pipeline.catalog.plugins import table_of
from anon_pipeline.policy.attacks import Attacks
from anon_pipeline.policy.fields import Real, Share, Strict, Whole
from anon_pipeline.policy.frozen_mapping import FrozenMapping, Keyed
from anon_pipeline.policy.marks import AFTER, LATER, NEEDS_NOISE, SHOWN, BeforeMaking, Fits, Later, Names
from anon_pipeline.policy.plugin_keys import with_keys
from anon_pipeline.policy.protection import JUDGED, LESS, by_rank
from anon_pipeline.policy.recoding import LDiversity
from anon_pipeline.policy.safe_harbor_terms import SafeHarborTerms, unused_terms
from anon_pipeline.policy.usefulness_bounds import Usefulness
from anon_pipeline.policy.whole_column_rules import needs_distribution

_CONTRADICTIONS = "anon_pipeline.policy.contradictions"


def _confident(wanted: int | None, sections: Mapping[str, Any]) -> Iterator[str]:
    suppress = sections.get("suppress")
    if wanted is not None and suppress is not None and suppress.confidence is None:
        yield "needs suppress.confidence"


def _key_problems(wanted: Any, sections: Mapping[str, Any]) -> Iterator[str]:
    if wanted is not None and sections.get("record_key") is None:
        yield "needs record_key"


def _at_most_k(wanted: int | None, sections: Mapping[str, Any]) -> Iterator[str]:
    gate, recoding = sections["gate"], sections.get("anonymize")
    k = gate.k or (None if recoding is None else recoding.k)
    if wanted is not None and k is not None and wanted > k:
        yield f"must be at most the gate's k of {k}, got {wanted}"


class Gate(Strict):
    """The limits that the release must keep; k always, the others when they are set."""

    k: Annotated[Whole | None, SHOWN, AFTER, JUDGED, BeforeMaking(f"{_CONTRADICTIONS}:unreachable_k")] = (
        Field(None, ge=2, description="Default: anonymize.k.")
    )
    t_closeness: Annotated[Keyed[Share], SHOWN, AFTER, Names("sensitive")] = Field(
        default_factory=FrozenMapping,
        description="Sensitive column → largest distance of a class to the whole input.",
    )
    l_diversity: Annotated[Keyed[LDiversity], SHOWN, AFTER, Names("sensitive")] = Field(
        default_factory=FrozenMapping, description="Sensitive column → how diverse each class must be."
    )
    linking_risk: Annotated[Share | None, SHOWN, AFTER, NEEDS_NOISE] = Field(
        None, description="Largest share of the records that are nearest to their own original."
    )
    suppression: Annotated[Share | None, SHOWN, AFTER] = Field(
        None, description="Largest share of the input missing from the release."
    )
    confidence_k: Annotated[
        Whole | None,
        SHOWN,
        AFTER,
        Fits(_confident, "columns"),
        Fits(needs_distribution, "every column"),
        BeforeMaking(f"{_CONTRADICTIONS}:unreachable_k"),
    ] = Field(None, ge=2, description="Fewest originals within suppress.confidence's interval.")
    released_identifiers: Annotated[Real, SHOWN, AFTER, LESS] = Field(
        0.05,
        ge=0,
        le=0.05,
        description="Largest share of the records that two or three insensitive columns together may single "
        "out. More must be acknowledged.",
    )
    cross_release_k: Annotated[Whole | None, SHOWN, AFTER, Fits(_key_problems), Fits(_at_most_k)] = Field(
        None,
        ge=2,
        description="Over all releases, at least this many people match every class that any one person was "
        "published in. Needs record_key.",
    )
    safe_harbor: Annotated[
        bool,
        SHOWN,
        AFTER,
        LATER,
        by_rank(False, True),
        BeforeMaking(f"{_CONTRADICTIONS}:unsafe_whatever_the_data"),
    ] = Field(
        False, strict=True, description="Whether it must keep what software can check of HIPAA Safe Harbor."
    )
    safe_harbor_terms: Annotated[SafeHarborTerms, Later(beside="safe_harbor"), Fits(unused_terms)] = Field(
        SafeHarborTerms(), description="For Safe Harbor: what the names of columns do not say."
    )
    attacks: Attacks = Field(Attacks(), description="What attackers may get right.")
    utility: Usefulness = Field(Usefulness(), description="What the release may lose.")
    linking: Annotated[Literal["expected", "realized"], SHOWN, AFTER] = Field(
        "expected",
        description="What limits on linking are judged on. expected: the mean over all noise that could be "
        "drawn; realized: the noise that was drawn; acceptance of a release then reveals more "
        "than its ε.",
    )


LIMIT_KEYS = table_of("limits", LimitKey, (), taken={*Gate.model_fields, *Attacks.model_fields})
"""Limits of plugins."""

if not TYPE_CHECKING:
    Gate = with_keys(Gate, "limit", LIMIT_KEYS, plugins=LIMIT_KEYS)
