"""How one column is cleaned: its own keys before those for all, and what its role needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anon_pipeline.policy import Policy

Small = Callable[..., Policy]
FOUR: dict[str, Any] = {
    "columns": {
        "id": {"role": "identifier"},
        "q": {"role": "generalize", "hierarchy": {"dates": ["year"]}},
        "n": {"role": "perturb", "resolution": 1},
        "d": {"role": "insensitive"},
    },
    "perturb": {"epsilon": 1},
}


def test_a_key_of_a_column_takes_the_place_of_that_for_all(small_policy: Small) -> None:
    policy = small_policy(
        **FOUR,
        clean={
            "strip": True,
            "unicode": "NFC",
            "missing": ["-", 1],
            "type": "auto",
            "thousands": "'",
            "columns": {
                "d": {"strip": False, "unicode": "keep", "missing": []},
                "q": {"format": "%d.%m.%Y"},
            },
        },
    )
    found = policy.cleaned
    assert (found["d"].strip, found["d"].unicode, found["d"].missing) == (False, None, ())
    assert (found["n"].strip, found["n"].unicode, found["n"].missing) == (True, "NFC", ("-", "1"))
    assert {name: found[name].type.name for name in FOUR["columns"]} == {
        "id": "text",
        "q": "date",
        "n": "number",
        "d": "auto",
    }
    assert found["n"].thousands == "'"


def test_truncate_for_all_is_of_texts_that_are_released_as_they_are(small_policy: Small) -> None:
    found = small_policy(**FOUR, clean={"truncate": 9}).cleaned
    assert {name: found[name].truncate for name in FOUR["columns"]} == {
        "id": None,
        "q": None,
        "n": None,
        "d": 9,
    }
