"""What releases that are already published reveal or claim in excess: one warning for each that applies.

The names are those of version 1, which does not change: no table is read.
`docs/releases-already-out.md` explains every warning, in a section of its name, and says what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

DOCUMENT = "docs/releases-already-out.md"
_UNPROMISED = ("uniform",)  # kinds of 0.1.0, as all names here: what came later is in none of its manifests
_EXACT_LOSSES = ("entropy", "classification")
_DRAWN = ("linking_risk", "confidence_k", "attacker_success", "assignment_risk", "linkage", "suppression")
_LINKED = ("linking_risk", "attacker_success", "assignment_risk", "linkage")
_EXACT = ("t_closeness", "skewness", "similarity", "expected_linking_risk", "averaging")


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning about a release.

    name: of the section of `DOCUMENT` that explains it.
    text: what the release reveals or claims in excess, in one sentence.
    """

    name: str
    text: str

    @property
    def section(self) -> str:
        """Where it is explained."""
        return f"{DOCUMENT}#{self.name}"


class _Told:
    """A manifest that may say anything: what cannot be read is not there."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        gate, facts = _as_mapping(document.get("gate")), _as_mapping(document.get("facts"))
        verdicts = gate.get("verdicts")
        self.signed = "signature" in document
        self.recoded, self.noise = _as_mapping(facts.get("k_anonymized")), _as_mapping(facts.get("perturbed"))
        self.columns = [_as_mapping(column) for column in _as_mapping(self.noise.get("columns")).values()]
        self.limits = {
            str(verdict.get("limit")).split(".")[0]: verdict.get("value")
            for verdict in (verdicts if isinstance(verdicts, list) else [])
            if isinstance(verdict, Mapping)
        }

    def judges(self, *kinds: str) -> bool:
        """Tell whether the gate has judged a limit of one of some kinds."""
        return any(kind in self.limits for kind in kinds)

    @property
    def noisy(self) -> bool:
        """Whether there is noise that promises an ε."""
        return any(column.get("mechanism") not in _UNPROMISED for column in self.columns)

    @property
    def class_scaled(self) -> bool:
        """Whether the scale of a column's noise comes from its class."""
        return any(column.get("sensitivity") == "class" for column in self.columns)


def _as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _exact(told: _Told) -> bool:
    scaled = any(column.get("mean_scale") is not None for column in told.columns)
    return told.judges(*_EXACT) or scaled or told.recoded.get("loss") in _EXACT_LOSSES


def _first(told: _Told) -> bool:
    before = _as_mapping(told.noise.get("composition")).get("releases_before")
    return told.judges("cross_release_k", "sticky") and before == 0


WARNINGS: dict[str, tuple[str, Callable[[_Told], bool]]] = {
    "the-sentence-about-epsilon": (
        "its guarantee claims too much of ε: it holds for one noisy row of a fixed class, before "
        "anybody sees whether the row was released",
        lambda told: told.noisy,
    ),
    "exact-measures-of-the-input": (
        "the manifest shows measures over the whole input with all their digits; where few records were "
        "suppressed, they can reveal what a suppressed record held",
        _exact,
    ),
    "sticky-noise-of-a-growing-class": (
        "its noise stays over releases while its scale comes from the class: a class that grew gave its "
        "newcomers other noise than its old members, and ε does not hold over the releases together",
        lambda told: told.noise.get("republish") == "sticky" and told.class_scaled,
    ),
    "noise-that-could-be-drawn-again": (
        "its gate judged the drawn noise, and a refused run cost no ε: if runs were refused before it, the "
        "noise is what passed the gate, and reveals more than its ε",
        lambda told: bool(told.columns) and told.judges(*_DRAWN),
    ),
    "linking-judged-on-the-drawn-noise": (
        "its linking risk is that of the drawn noise: the value and the release together reveal more than "
        "the noise alone",
        lambda told: bool(told.columns) and told.judges(*_LINKED),
    ),
    "together-without-a-memory": (
        "its limits on all releases together were judged with a memory of no release before it: if "
        "there were any, they do not count",
        _first,
    ),
    "manifests-that-could-be-edited": (
        "it is not signed, and 0.1.0 noticed few edits of a manifest: what was verified before proves less "
        "than what this version verifies",
        lambda told: not told.signed,
    ),
}
"""Text and condition of each warning about manifests of version 1, by the name of its section."""

LOOKED_FOR = Warned(
    "identifiers-that-were-not-looked-for",
    "the file contains texts or numbers that look like identifiers of people, of kinds that 0.1.0 did not "
    "look for",
)
"""Of a release whose contract only later rules break; `verify` finds it in the file, not in the manifest."""


def warnings_for(document: Mapping[str, Any]) -> Iterator[Warned]:
    """Yield the warnings that apply to a manifest of version 1; later ones have none of these problems."""
    told, first = _Told(document), document.get("manifest_version") == 1
    for name, (text, applies) in WARNINGS.items():
        if first and applies(told):
            yield Warned(name, text)
