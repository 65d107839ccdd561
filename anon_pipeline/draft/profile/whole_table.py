"""What only all columns together show: items of a questionnaire, a total, columns that are too many."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from anon_pipeline.catalog.detectors.name_hints import hint_rank
from anon_pipeline.draft.profile.look import Kind, Look
from anon_pipeline.draft.profile.proposals import Proposal, Sure, drop_instead
from anon_pipeline.draft.profile.questions import TOO_MANY, TOTAL
from anon_pipeline.draft.profile.roles import MOST_ANSWERS, propose_sensitive
from anon_pipeline.policy.columns import Generalize, Perturb

MOST_QUASI = 8
"""Columns that can be generalized together and still say something; more are left out."""
MOST_NOISY = 2
"""Columns with noise: ε is divided among them."""
_FEWEST_ITEMS = 3
_LAST = 3  # records at the end that may be totals, means or empty
_FEW = 0.05  # of the records that may be subtotals
_TOTALS = {
    *(
        "total",
        "totals",
        "grand total",
        "subtotal",
        "sum",
        "overall",
        "all",
        "summe",
        "gesamt",
        "gesamtsumme",
    ),
    *("gesamtergebnis", "ergebnis", "zwischensumme", "insgesamt", "somme", "total général", "total general"),
    *("totale", "somma", "suma", "soma", "totaal", "som"),
}


def with_items(looks: Sequence[Look], proposals: Sequence[Proposal]) -> list[Proposal]:
    """Take columns with the same few answers for items of a questionnaire: sensitive, each of them.

    Args:
        looks: the columns.
        proposals: one for each; those that a name or a detector speaks for stay.
    """
    open_ = [j for j, proposal in enumerate(proposals) if proposal.guess and _is_item(looks[j])]
    scales: dict[tuple[str, ...], list[int]] = {}
    for j in open_:
        scales.setdefault(tuple(sorted(map(str, looks[j].values))), []).append(j)
    scales = _join(scales)
    found = list(proposals)
    for members in scales.values():
        if len(members) < _FEWEST_ITEMS:
            continue
        for j in members:
            item = propose_sensitive(
                looks[j], "an answer, on a scale that other columns have, too", Sure.LIKELY
            )
            found[j] = item or found[j]
    return found


def _is_item(look: Look) -> bool:
    return 3 <= look.seen.different <= MOST_ANSWERS and look.seen.kind in (Kind.NUMBER, Kind.CATEGORY)


def _join(scales: dict[tuple[str, ...], list[int]]) -> dict[tuple[str, ...], list[int]]:
    """Join scales that lack an answer which nobody has given with the ones that have it."""
    found: dict[tuple[str, ...], list[int]] = {}
    for scale in sorted(scales, key=len, reverse=True):
        larger = next((other for other in found if set(scale) <= set(other)), scale)
        found.setdefault(larger, []).extend(scales[scale])
    return found


def with_total(looks: Sequence[Look], proposals: Sequence[Proposal]) -> list[Proposal]:
    """Ask whether one of the last records is a total, in the columns where few records say so."""
    return [
        replace(proposal, question=" ".join(filter(None, (TOTAL, proposal.question))))
        if _ends_with_total(look)
        else proposal
        for look, proposal in zip(looks, proposals, strict=True)
    ]


def _ends_with_total(look: Look) -> bool:
    if look.seen.kind not in (Kind.CATEGORY, Kind.TEXT):
        return False
    last = [code for code in look.codes[-_LAST:] if code >= 0]
    rare = [code for code in last if look.counts[code] <= max(1, _FEW * look.seen.records)]
    return any(says_total(str(look.values[code])) for code in rare)


def says_total(text: str) -> bool:
    """Tell whether a text is a word for a total.

    >>> says_total("Summe (20):"), says_total("Totalis")
    (True, False)
    """
    return re.sub(r"[^\w\s]|\d", "", text).strip().casefold() in _TOTALS


def within_reason(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Leave out quasi-identifiers and columns with noise beyond a number that can be protected together.

    Those stay that a name speaks for, in the order of the table of hints, then those with fewer values.
    """
    found = list(proposals)
    kinds: tuple[tuple[type, int, str], ...] = (
        (Perturb, MOST_NOISY, "more columns with noise than ε can be divided among"),
        (Generalize, MOST_QUASI, "more quasi-identifiers than can be protected together"),
    )
    for model, most, reason in kinds:
        own = [j for j, proposal in enumerate(found) if isinstance(proposal.column, model)]
        own.sort(key=lambda j: (found[j].guess, hint_rank(found[j].name), found[j].seen.different))
        for j in own[most:]:
            found[j] = drop_instead(found[j], reason, TOO_MANY)
    return found
