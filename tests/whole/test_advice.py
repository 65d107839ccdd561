"""Advice after a draw that is paid for: whoever follows it must know that another policy costs ε again."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import anon_pipeline
from anon_pipeline import Locations, Policy, make_release
from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.errors import ANOTHER_DRAW, GateRefused, InputError, PublishError
from anon_pipeline.ledger import ledger_at
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.perturb.noise import prepare_noise
from anon_pipeline.publish.accounting.remote_lock import _busy

Small = Callable[..., Policy]
ROOMS = Path(anon_pipeline.__file__).parent
AFTER = ("publish", "perturb", "risk", "gate", "orchestration", "compose", "vault", "ledger")
"""Rooms whose messages can come after a draw."""


@pytest.fixture
def places(tmp_path: Path, small_people: Callable[..., pd.DataFrame]) -> Locations:
    small_people().to_csv(tmp_path / "people.csv", index=False)
    return Locations.of(tmp_path, {})


def test_who_waited_in_vain_is_told_to_keep_the_policy(small_policy: Small, places: Locations) -> None:
    """`publish.wait` is part of the policy: setting it, as the message once advised, drew noise again."""
    policy = small_policy(publish={"to": "out", "wait": 0}, budget={"epsilon": 2})
    (places.releases / "out").mkdir()
    handle = os.open(places.releases / "out", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(PublishError) as refused:
            make_release(policy, places)
    finally:
        os.close(handle)
    assert "then run again with the same policy" in str(refused.value)
    assert ANOTHER_DRAW in str(refused.value)
    assert "set publish.wait" not in str(refused.value)
    make_release(policy, places)  # the advice, followed
    assert [event.event for event in ledger_at(places.ledger).events()].count("drawn") == 1


def test_so_is_who_waited_for_a_remote_memory() -> None:
    assert ANOTHER_DRAW in str(_busy(None))
    assert "set publish.wait" not in str(_busy(None))


def test_a_refusal_by_the_gate_says_it_where_there_is_noise(small_policy: Small, places: Locations) -> None:
    with pytest.raises(GateRefused) as refused:
        make_release(small_policy(gate={"attacks": {"prosecutor_risk": 0.001}}), places)
    assert str(refused.value).endswith(f"({ANOTHER_DRAW})")
    height = {"role": "sensitive", "unit": None, "resolution": None}
    still = {"columns": {"height": height}, "perturb": None, "suppress": None}
    plain = small_policy(**still, gate={"attacks": {"prosecutor_risk": 0.001}}, publish={"to": "plain"})
    with pytest.raises(GateRefused) as refused:
        make_release(plain, places)
    assert ANOTHER_DRAW not in str(refused.value)


def test_values_too_large_for_the_noise_say_it() -> None:
    one = EquivalenceClasses(np.array([0]), np.array([1]))
    with pytest.raises(InputError, match=re.escape(ANOTHER_DRAW)):
        prepare_noise(
            np.array([[2**53]]), one, noises=[Noise("discrete_laplace", Fraction(1))], names=["income"]
        )


def test_no_message_after_a_draw_advises_another_policy_without_saying_it() -> None:
    """All of the rooms' sources are read: a new message of this kind fails here."""
    advice = re.compile(r"(?:[Uu]se a coarser resolution|or set publish\.|[Ss]et publish\.)")
    silent = [
        f"{path.relative_to(ROOMS)}: {match.group()}"
        for room in AFTER
        for path in sorted((ROOMS / room).rglob("*.py"))
        for text in [path.read_text(encoding="utf-8")]
        for match in advice.finditer(text)
        if "ANOTHER_DRAW" not in text[match.start() : match.start() + 160]
    ]
    assert silent in ([], ["perturb/grid.py: use a coarser resolution"])  # the input is read before a draw
