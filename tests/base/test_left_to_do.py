"""What is left to do is known while work goes on and after it was cut off, and not after it has ended."""

from __future__ import annotations

import signal
import threading

import pytest

from anon_pipeline.base.left_to_do import TERMINATED, left_to_do, said_if_ended


@pytest.fixture(autouse=True)
def _nothing_left() -> None:
    """End as every program begins."""
    with said_if_ended("x"):
        pass


def test_it_is_known_until_the_work_has_ended() -> None:
    with said_if_ended("deliver it"):
        assert left_to_do() == "deliver it"
    assert left_to_do() == ""
    with pytest.raises(ValueError, match="wrong"), said_if_ended("deliver it"):
        raise ValueError("wrong")
    assert left_to_do() == "", "the error says it"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_is_known_after_a_signal(number: signal.Signals) -> None:
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with pytest.raises(BaseException) as ended, said_if_ended("deliver it"):
            signal.raise_signal(number)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    assert left_to_do() == "deliver it"
    if number == signal.SIGTERM:
        assert isinstance(ended.value, SystemExit) and ended.value.code == TERMINATED
    else:
        assert isinstance(ended.value, KeyboardInterrupt)


def test_who_answers_signals_already_is_left_alone() -> None:
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    own = signal.getsignal(signal.SIGTERM)
    try:
        with said_if_ended("deliver it"):
            assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)
    seen = list[str]()

    def elsewhere() -> None:
        with said_if_ended("deliver it"):
            seen.append(left_to_do())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == ["deliver it"]
