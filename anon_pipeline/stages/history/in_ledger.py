"""What the ledger has of other releases, as the gate needs it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from anon_pipeline.perturb.budget import exact_fraction


@dataclass(frozen=True, slots=True)
class InLedger:
    """What the ledger has of other releases; nothing where nobody keeps one.

    same_columns: whether there is a release of another dataset, of a source with the same columns.
    published: ε of the dataset's releases that were published before, of the same partition if there is one.
    rows: of the releases of the dataset that were published before and that nothing compares with this one,
        see `uncompared_rows`: digests of their rows, see `canonical_form`; None where they are not known.
    """

    same_columns: bool = False
    published: Fraction = Fraction(0)
    rows: frozenset[str | None] = field(default=frozenset(), repr=False)

    def epsilon_with(self, own: float) -> Fraction | None:
        """Return the ε of what was published before and of this release together; None for a first release.

        Args:
            own: ε of this release.

        >>> InLedger(published=Fraction(8)).epsilon_with(0.1)
        Fraction(81, 10)
        """
        return self.published + exact_fraction(own) if self.published else None


NOTHING_IN_LEDGER = InLedger()
