"""The worked tables of the sources: every recoder's node, and the k-minimal nodes by Incognito."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_pipeline.catalog.recoders import PREFERENCES
from anon_pipeline.recode import Constraints, recode
from anon_pipeline.recode.fulldomain.incognito import k_anonymous_nodes
from anon_pipeline.recode.fulldomain.ola import lowest_nodes
from anon_pipeline.recode.tuples import distinct_tuples, node_classes
from tests.recode.asking import ask

Tables = dict[str, tuple[np.ndarray, tuple[Any, ...]]]


@pytest.fixture
def worked(shared_golden: Path, from_rows: Callable[..., Any], encode_column: Callable[..., Any]) -> Tables:
    def columns(name: str, which: slice) -> list[list[str]]:
        lines = (shared_golden / name).read_text().splitlines()[1:]
        return [list(column) for column in zip(*(line.split(";")[which] for line in lines), strict=True)]

    ages, zips = columns("medical.csv", slice(1, 3))
    races, codes = columns("race_zip.csv", slice(0, 2))
    hierarchies = {
        "medical": (
            from_rows("age", [(a, f"5:{int(a) // 5}", f"10:{int(a) // 10}", "*") for a in sorted(set(ages))]),
            from_rows("zip", [(z, z[:4] + "*", "*") for z in sorted(set(zips))]),
        ),
        "race_zip": (
            from_rows("race", [(race, "person") for race in sorted(set(races))]),
            from_rows("zip", [(z, z[:4] + "*", z[:3] + "**") for z in sorted(set(codes))]),
        ),
    }
    values = {"medical": (ages, zips), "race_zip": (races, codes)}
    return {
        name: (
            np.stack([encode_column(v, h) for v, h in zip(values[name], own, strict=True)], axis=1),
            own,
        )
        for name, own in hierarchies.items()
    }


def chosen(
    worked: Tables, name: str, limit: int, recoder: str, prefer: str = "loss"
) -> tuple[int, ...] | None:
    codes, hierarchies = worked[name]
    return recode(ask(codes, hierarchies, Constraints(2, limit), recoder=recoder, prefer=prefer)).levels


def test_incognito_finds_the_nodes_of_the_book(worked: Tables, golden: dict[str, Any]) -> None:
    codes, hierarchies = worked["medical"]
    anonymous, _ = k_anonymous_nodes(distinct_tuples(codes, hierarchies)[0], hierarchies, k=2, limit=0)
    want = golden["medical_k2"]
    assert np.argwhere(anonymous).tolist() == want["anonymous_nodes"]
    assert [list(divmod(index, 3)) for index in lowest_nodes(anonymous)] == want["minimal_nodes"]


def test_each_recoder_on_the_book_s_table(worked: Tables) -> None:
    """(1, 1) takes two steps and (3, 0) three; Datafly sees 11 ages, then 6, before 4 ZIP codes."""
    for recoder in ("ola", "incognito", "samarati", "mingen"):
        for prefer in PREFERENCES:
            assert chosen(worked, "medical", 0, recoder, prefer) == (1, 1)
    assert chosen(worked, "medical", 0, "datafly") == (2, 1)


def test_each_node_of_the_slides(worked: Tables, golden: dict[str, Any]) -> None:
    codes, hierarchies = worked["race_zip"]
    table, _ = distinct_tuples(codes, hierarchies)
    for node in golden["race_zip_k2"]["nodes"]:
        classes, labels = node_classes(table, hierarchies, node["levels"])
        sizes = np.bincount(labels, table.counts)
        assert (len(classes), sizes[sizes < 2].sum()) == (node["classes"], node["suppressed_for_k"])
        for limit in (0, 2, 6):
            anonymous, _ = k_anonymous_nodes(table, hierarchies, k=2, limit=limit)
            assert anonymous[tuple(node["levels"])] == (node["suppressed_for_k"] <= limit)


@pytest.mark.parametrize(
    ("limit", "recoder", "prefer", "levels"),
    [
        (0, "incognito", "loss", (0, 2)),
        (0, "incognito", "least_relative_distance", (0, 2)),
        (0, "samarati", "loss", (0, 2)),
        (0, "samarati", "most_distinct_tuples", (0, 2)),
        (0, "datafly", "loss", (1, 1)),
        (2, "incognito", "least_suppression", (0, 1)),
        (2, "samarati", "loss", (0, 1)),
        (2, "datafly", "loss", (0, 1)),
        (2, "mingen", "loss", (0, 1)),
        (2, "mingen", "least_suppression", (0, 2)),
    ],
)
def test_each_recoder_on_the_slides_table(
    worked: Tables, limit: int, recoder: str, prefer: str, levels: tuple[int, ...]
) -> None:
    """Two nodes suppress 2 of 9 records, (0, 1) and (1, 0); those above them none."""
    assert chosen(worked, "race_zip", limit, recoder, prefer) == levels
