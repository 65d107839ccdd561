"""What fails after the manifest's rename does not make a release look as if it were not out."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import Locations, make_release
from anon_pipeline.base.disk import Disk, use_disk
from anon_pipeline.base.errors import GateRefused, InputError, PublishError
from anon_pipeline.ledger import Ledger, ledger_at
from anon_pipeline.ledger.budget import State, release_states
from anon_pipeline.ledger.fence import hold_fence
from anon_pipeline.policy import Policy
from anon_pipeline.publish.accounting import booking
from tests.acknowledging import acknowledged

Small = Callable[..., Policy]


@pytest.fixture
def places(tmp_path: Path, small_people: Callable[..., pd.DataFrame]) -> Locations:
    small_people().to_csv(tmp_path / "people.csv", index=False)
    return Locations.of(tmp_path, {})


def only(places: Locations) -> State:
    (state,) = release_states(ledger_at(places.ledger).events()).values()
    return state


def refuse(*_: Any, **__: Any) -> None:
    raise InputError("the ledger must answer, it does not")


def test_a_ledger_that_does_not_answer_after_the_rename(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names what there is to do, and that is true."""
    policy = small_policy(budget={"epsilon": 2})
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "enter_published", refuse)
        with pytest.raises(PublishError, match="is published and in place, in spite of") as raised:
            make_release(policy, places)
    said, state = str(raised.value), only(places)
    assert raised.value.in_place
    assert "the ledger must answer" in said
    assert "does not have it as published yet" in said
    assert f"ledger close {state.last.release_id} --as published" in said
    assert "draws new noise, and costs its ε again (ε = 2)" in said
    assert state.name == "open"
    shown = (places.releases / "out" / "manifest.json").read_bytes()
    with pytest.raises(GateRefused, match="spent 2, requested 2, remaining 0"):
        make_release(policy, places)
    assert only(places).name == "published"  # entered before it draws
    assert (places.releases / "out" / "manifest.json").read_bytes() == shown


def test_a_disk_that_does_not_confirm_the_rename(small_policy: Small, places: Locations) -> None:
    def fail(name: str) -> None:
        if name == "before sync folder of manifest":
            raise OSError(errno.EIO, "Input/output error")

    with use_disk(Disk(fail)), pytest.raises(PublishError, match="the disk did not confirm it") as raised:
        make_release(small_policy(budget={"epsilon": 2}), places)
    said = str(raised.value)
    assert raised.value.in_place
    assert "is published and in place" in said
    assert "The ledger has it as published. Do not run the release again" in said
    assert "again." not in said.split("is published and in place", maxsplit=1)[0]
    assert "Publish again" not in said
    assert only(places).name == "published"


def test_a_ledger_that_fails_while_it_lets_go_after_the_rename(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def torn(*arguments: Any) -> Iterator[None]:
        with hold_fence(*arguments):
            yield
        raise InputError("the connection must last, it does not")

    monkeypatch.setattr(booking, "hold_fence", torn)
    with pytest.raises(PublishError, match="is published and in place") as raised:
        make_release(small_policy(), places)
    assert "The ledger has it as published." in str(raised.value)
    assert only(places).name == "published"


def test_what_fails_before_the_rename_is_said_as_it_is(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        if name == "before rename manifest":
            raise OSError(errno.ENOSPC, "No space left on device")

    with (
        use_disk(Disk(fail)),
        pytest.raises(PublishError, match="must be a folder that can be written") as raised,
    ):
        make_release(small_policy(budget={"epsilon": 2}), places)
    assert not raised.value.in_place
    assert "is published" not in str(raised.value)
    assert only(places).name == "failed"
    make_release(small_policy(budget={"epsilon": 2}), places)  # with the same draw, for nothing


def test_without_noise_no_epsilon_is_spoken_of(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = small_policy(
        perturb=None,
        suppress=None,
        columns={"height": {"role": "insensitive", "unit": None, "resolution": None}},
        acknowledged=acknowledged("height", "note", share=0.5),
        gate={"attacks": {"known_columns": [{"columns": ["height"], "risk": 1}]}},
    )
    monkeypatch.setattr(Ledger, "enter_published", refuse)
    with pytest.raises(PublishError, match="is published and in place") as raised:
        make_release(policy, places)
    assert "ε" not in str(raised.value)
