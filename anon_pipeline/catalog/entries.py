"""The entries of the tables: a frozen record for each kind, with all that others need to know of it.

No table is made here, so the packages of plugins import their entries from here without loading any. An
entry names its implementation by its place, ``module:name``, which is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from anon_pipeline.catalog.source_entries import Format, Generator, SourceKind
from anon_pipeline.catalog.whole_column import WholeColumn

__all__ = [
    "FULL_DOMAIN",
    "LOCAL",
    "MICROAGGREGATION",
    "MONDRIAN",
    "SUBTREE",
    "Family",
    "Fit",
    "Format",
    "Generator",
    "HierarchyKind",
    "LimitKey",
    "Loss",
    "Mechanism",
    "Promise",
    "Recoder",
    "SourceKind",
]

Promise = Literal["epsilon", "epsilon and delta", "nothing"]


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A kind of noise for columns of numbers, or what else changes them.

    name: in the policy.
    words: for people.
    law: place of the module with its law, see `perturb.law.Law`; of a mechanism that changes whole columns,
        what attackers assume.
    promises: what is promised of one row. What promises δ as well takes a share of ``perturb.delta``.
    most_epsilon: largest ε of a column, if there is one.
    whole_column: what it does, if it changes a column as a whole.
    """

    name: str
    words: str
    law: str
    promises: Promise = "epsilon"
    most_epsilon: float | None = None
    whole_column: WholeColumn | None = None

    @property
    def needs_delta(self) -> bool:
        """Whether a column needs a δ."""
        return self.promises == "epsilon and delta"

    @property
    def counted(self) -> bool:
        """Whether a budget, which counts ε alone, says all that is spent."""
        return self.promises == "epsilon"


@dataclass(frozen=True, slots=True)
class Fit:
    """What a recoder may need to know of a policy's columns.

    generalized: columns with the role generalize.
    numeric: those of them with intervals, numbers, dates or order.
    ordered_limits: sensitive columns with distance: ordered and a limit in t_closeness.
    """

    generalized: int
    numeric: int
    ordered_limits: int


@dataclass(frozen=True, slots=True)
class Family:
    """Recoders that release values of one form.

    A family that only counts is asked without any record: it chooses from distinct tuples, and what it chose
    is applied to records wherever they are. A family that may part records with equal quasi-identifiers, or
    a recoder of a family that does (`Recoder.by_order`), recodes records in memory.

    runs: place of the function that recodes records by one of them, from a `recode.task.Task` and its
        `recode.by_record.ByRecord` to a `recode.task.Recoding`. Empty: none of them needs records.
    releases: ``levels`` of a hierarchy, one for a whole column; ``mixed levels``, the same for equal values;
        ``ranges`` of values, by class; ``means`` of the values of a class, which do not say which values they
        stand for.
    cells: whether single cells can be suppressed instead of whole records.
    chooses: place of the function that chooses from counts, from a task and a `recode.tuples.DistinctTuples`
        to a `recode.choice.Choice`. Empty: counts are not enough.
    together: whether it looks at the values of all limited columns together; it then gets a
        `recode.joint.Joint` in place of the tuples.
    elsewhere: place of the function that does so where the tuples do not fit into memory, from a task, who
        counts, and ``most``, how many fit. Empty: the tuples must fit.
    """

    name: str
    runs: str
    releases: Literal["levels", "mixed levels", "ranges", "means"]
    cells: bool = False
    chooses: str = ""
    together: bool = False
    elsewhere: str = ""


@dataclass(frozen=True, slots=True)
class Recoder:
    """One algorithm.

    name: in the policy.
    words: what it does, for people, in the policy's JSON Schema.
    algorithm: place of the function that the family calls for it.
    prefers: whether it chooses between several nodes, by ``anonymize.prefer``.
    needs_levels: whether every generalize column must have a hierarchy.
    by_order: whether it may part records with equal quasi-identifiers, by the order of the table; it then
        needs records, where its family can do with counts.
    keeps_limits: whether it makes classes larger until they keep t and l, instead of suppressing them.
    of_people: whether it can make classes of k people who have several records each; else of k records.
    options: keys of ``anonymize`` that are for this recoder alone.
    misfit: what it needs of a policy's columns and does not have, after its name in a message; None: nothing.
    """

    name: str
    words: str
    family: Family
    algorithm: str
    prefers: bool = False
    needs_levels: bool = False
    by_order: bool = False
    keeps_limits: bool = False
    of_people: bool = True
    options: frozenset[str] = frozenset()
    misfit: Callable[[Fit], str | None] = lambda fit: None


_PLACE = "anon_pipeline.recode"
FULL_DOMAIN = Family(
    "full_domain",
    "",
    "levels",
    cells=True,
    chooses=f"{_PLACE}.fulldomain.best_node:full_domain",
    elsewhere=f"{_PLACE}.fulldomain.elsewhere:full_domain_elsewhere",
)
SUBTREE = Family("subtree", "", "mixed levels", chooses=f"{_PLACE}.subtree.best_fronts:subtree")
MONDRIAN = Family(
    "mondrian",
    f"{_PLACE}.mondrian.mondrian:mondrian_by_record",
    "ranges",
    chooses=f"{_PLACE}.mondrian.mondrian:mondrian",
    together=True,
    elsewhere=f"{_PLACE}.mondrian.elsewhere:mondrian_elsewhere",
)
MICROAGGREGATION = Family(
    "microaggregation", f"{_PLACE}.microaggregation.microaggregation:microaggregation", "means"
)
LOCAL = Family("local", f"{_PLACE}.microaggregation.local_ranges:local_ranges", "ranges")
GIVEN = Family("given", f"{_PLACE}.given_classes:given_classes", "ranges")


@dataclass(frozen=True, slots=True)
class Loss:
    """An information loss, which recoders minimize or measure.

    name: in the policy.
    words: for people, in the policy's JSON Schema.
    by: ``cells``: it adds up what every cell loses, with a weight for each column; ``classes``: it looks at
        the sizes of the classes, or at the labels in them.
    measures: place of a `recode.loss.CellLoss` or a `recode.loss.ClassLoss`, as ``by`` says.
    labels: whether it needs the class labels of ``anonymize.target``.
    exact: whether its exact value can reveal the content of a suppressed record.
    unit: of the number that `utility` shows; a share is in [0, 1].
    largest: from the records of the input to that number where everything is lost; ``whole``: whether it is a
        whole number.
    """

    name: str
    words: str
    by: Literal["cells", "classes"]
    measures: str
    labels: bool = False
    exact: bool = True
    unit: str = "share"
    largest: Callable[[int], int] = lambda records: 1
    whole: bool = False


@dataclass(frozen=True, slots=True)
class HierarchyKind:
    """A kind of hierarchy: all that others need to know of it. A new one is its model and its entry here.

    name: its key in the policy, which is the first field of its model.
    model: how a policy describes it.
    builds: place of the function that codes a column by it, see `hierarchy.build`.
    recognizes: place of the function that finds the level of a released text, see `hierarchy.level_of_text`.
    numbers: whether the column must hold numbers.
    ordered: whether its leaves lie on a line, so that ranges and means of them exist.
    computed: whether labels are computed from the values by a rule; those of others are looked at for values
        that they list.
    leaves: place of the function from the column's name, the policy's description and the folder of tables to
        all leaves; none: they are the values of the data.
    domain: from the policy's description to all leaves, which are then a public domain whatever the data; it
        raises ValueError where they are none. None: the policy does not list them with their distances.
    days: whether its values are dates.
    file: its field that names a file; None: it needs none.
    words: what a level shows, for people, from the policy's description and the level: "in bands of 8". It is
        asked of levels between the value itself and the top.
    steps: from how a policy describes it to its most general level, the value itself being level 0; None:
        the policy does not say it.
    """

    name: str
    model: type[BaseModel]
    builds: str
    recognizes: str
    numbers: bool = False
    ordered: bool = False
    computed: bool = False
    leaves: str = ""
    domain: Callable[[Any], tuple[str, ...]] | None = None
    days: bool = False
    file: str | None = None
    words: Callable[[Any, int], str] = lambda spec, level: "made coarser"
    steps: Callable[[Any], int] | None = None


@dataclass(frozen=True, slots=True)
class LimitKey:
    """A limit of a plugin, as the policy sees it: a key of ``gate``, which is None where it is not set.

    name: of the key and of the limit.
    field: type of its values, with None and with its marks: ``Annotated[Share | None, SHOWN, AFTER]``.
        Without marks it is private and binds the private tables, see `policy.marks`.
    description: of the key, in the JSON Schema.
    limit: place of the `limits.limit.Limit` that judges it.
    """

    name: str
    field: Any
    description: str
    limit: str
