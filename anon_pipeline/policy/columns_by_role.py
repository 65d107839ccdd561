"""The columns of a policy by their roles, and by what else is asked of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.policy.allow import allowed_identifiers
from anon_pipeline.policy.coarsening import Coarsened
from anon_pipeline.policy.column_cleaning import needs_numbers
from anon_pipeline.policy.columns import (
    Column,
    Generalize,
    Identifier,
    Insensitive,
    Perturb,
    PerturbCategories,
    Sensitive,
    bounds_of,
)
from anon_pipeline.policy.frozen_mapping import Keyed


class ColumnsByRole:
    """What a policy says of its columns together; `Policy` is one, and has the field that it reads."""

    if TYPE_CHECKING:  # else pydantic would take it for a field of its own
        columns: Keyed[Column]

    @property
    def identifiers(self) -> dict[str, Identifier]:
        """Columns with the role identifier, in the policy's order."""
        return {name: column for name, column in self.columns.items() if isinstance(column, Identifier)}

    @property
    def generalized(self) -> dict[str, Generalize]:
        """Columns with the role generalize, in the policy's order."""
        return {name: column for name, column in self.columns.items() if isinstance(column, Generalize)}

    @property
    def equal_distance(self) -> tuple[str, ...]:
        """Generalize columns without a hierarchy, whose values are equally far apart, in its order."""
        return tuple(name for name, column in self.generalized.items() if column.hierarchy is None)

    @property
    def perturbed(self) -> dict[str, Perturb]:
        """Columns with the role perturb that hold numbers, in the policy's order."""
        return {name: column for name, column in self.columns.items() if isinstance(column, Perturb)}

    @property
    def categorical(self) -> dict[str, PerturbCategories]:
        """Columns with the role perturb that hold categories, in the policy's order."""
        return {
            name: column for name, column in self.columns.items() if isinstance(column, PerturbCategories)
        }

    @property
    def drawn_categories(self) -> dict[str, PerturbCategories]:
        """Columns of categories whose released values are drawn one by one, in the policy's order."""
        return {name: column for name, column in self.categorical.items() if not column.whole_column}

    @property
    def changed_categories(self) -> dict[str, PerturbCategories]:
        """Columns of categories that are changed as a whole, in the policy's order."""
        return {name: column for name, column in self.categorical.items() if column.whole_column}

    @property
    def noisy(self) -> dict[str, Perturb | PerturbCategories]:
        """Columns with the role perturb: first those with numbers, then those with categories."""
        return {**self.perturbed, **self.categorical}

    @property
    def sensitive(self) -> dict[str, Sensitive]:
        """Columns with the role sensitive, in the policy's order."""
        return {name: column for name, column in self.columns.items() if isinstance(column, Sensitive)}

    @property
    def insensitive(self) -> dict[str, Insensitive]:
        """Columns with the role insensitive, in the policy's order."""
        return {name: column for name, column in self.columns.items() if isinstance(column, Insensitive)}

    @property
    def coarsened(self) -> dict[str, Coarsened]:
        """Columns without noise that are released coarser than they are, in the policy's order."""
        return {
            name: column
            for name, column in self.columns.items()
            if isinstance(column, Coarsened) and column.coarse
        }

    @property
    def public_bounds(self) -> dict[str, tuple[float, float]]:
        """Lowest and highest number of each bounded column in the release, in the policy's order."""
        found = {name: bounds_of(column) for name, column in self.columns.items()}
        return {name: bounds for name, bounds in found.items() if bounds is not None}

    @property
    def unchanged(self) -> list[str]:
        """Columns that are released with their values: sensitive and insensitive ones, in order."""
        kinds = (Sensitive, Insensitive)
        return [name for name, column in self.columns.items() if isinstance(column, kinds)]

    @property
    def released(self) -> list[str]:
        """Columns of the release, in the policy's order: all but dropped identifiers."""
        return [
            name
            for name, column in self.columns.items()
            if not (isinstance(column, Identifier) and not IDENTIFIER_ACTIONS[column.action].released)
        ]

    @property
    def allowed(self) -> list[dict[str, str]]:
        """What may be released although it looks like an identifier: column, detector, reason; sorted."""
        return allowed_identifiers(self.columns)

    @property
    def numeric(self) -> list[str]:
        """Columns that hold numbers: perturb, intervals and numbers, ordered without an order, rounded."""
        return [name for name, column in self.columns.items() if needs_numbers(column)]
