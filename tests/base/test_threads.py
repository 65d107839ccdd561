"""Tasks side by side: results in order, errors of the first, and nothing that a library logs is read."""

from __future__ import annotations

import logging
import threading

import pytest

from anon_pipeline.base import threads
from anon_pipeline.base.quiet import WITHHELD, own_words, quiet
from anon_pipeline.base.threads import HUGE, shared_property, side_by_side, side_by_side_unless_huge

CANARY = "CANARY-7f3a"


@pytest.fixture(params=[1, 2, 3])
def processors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(threads, "processors", lambda: request.param)
    return int(request.param)


def test_results_come_in_order_from_as_many_threads_as_there_are_processors(processors: int) -> None:
    together = threading.Barrier(min(processors, 2))

    def task(number: int) -> tuple[int, int]:
        if number < 2:
            together.wait(60)
        return number, threading.get_ident()

    found = side_by_side([lambda number=number: task(number) for number in range(5)])
    assert [number for number, _ in found] == [*range(5)]
    assert found[0][1] == threading.get_ident()
    assert len({thread for _, thread in found}) <= processors
    assert (found[1][1] == found[0][1]) == (processors == 1)


def test_tasks_on_huge_tables_run_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "processors", lambda: 2)
    together = threading.Barrier(2)

    def meet() -> int:
        together.wait(60)
        return threading.get_ident()

    assert len({*side_by_side_unless_huge([meet] * 2, records=HUGE - 1)}) == 2
    found = side_by_side_unless_huge([threading.get_ident] * 3, records=HUGE)
    assert found == [threading.get_ident()] * 3

    def refuse() -> None:
        raise ValueError("one")

    for records in (HUGE - 1, HUGE):
        with pytest.raises(ValueError, match="one"):
            side_by_side_unless_huge([refuse, lambda: None], records=records)


def test_this_thread_takes_tasks_that_no_other_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "processors", lambda: 2)
    here, begun, over = threading.get_ident(), threading.Event(), threading.Event()

    def run(number: int) -> int:
        if number == 0:
            assert begun.wait(60)
        elif number == 1:  # the other thread is held until this one has run the rest
            begun.set()
            assert over.wait(60)
        elif number == 4:
            over.set()
        return threading.get_ident()

    ran = side_by_side([lambda number=number: run(number) for number in range(5)])
    assert [thread == here for thread in ran] == [True, False, True, True, True]


def test_all_have_ended_when_an_error_of_this_thread_is_raised(processors: int) -> None:
    ended = []

    def refuse() -> None:
        raise ValueError("one")

    with pytest.raises(ValueError, match="one"):
        side_by_side([refuse, *(lambda number=number: ended.append(number) for number in range(5))])
    assert sorted(ended) == ([] if processors == 1 else [*range(5)])


@pytest.mark.usefixtures("processors")
def test_no_task_has_no_result() -> None:
    assert side_by_side([]) == []


@pytest.mark.usefixtures("processors")
def test_the_first_error_is_raised() -> None:
    def refuse(words: str) -> None:
        raise ValueError(words)

    with pytest.raises(ValueError, match="one"):
        side_by_side([lambda: None, lambda: refuse("one"), lambda: refuse("two")])


@pytest.mark.usefixtures("processors")
def test_logs_are_withheld_in_threads_as_here(caplog: pytest.LogCaptureFixture) -> None:
    def log() -> None:
        logging.getLogger("library").error("got %s", CANARY)

    with quiet():
        side_by_side([log, log])
        with own_words():
            side_by_side([log, log])
    side_by_side([log, log])
    said = [record.getMessage() for record in caplog.records]
    assert said == [WITHHELD] * 2 + [f"got {CANARY}"] * 4


def test_a_shared_property_is_made_once_while_others_wait() -> None:
    begun, made = threading.Event(), []

    class Shared:
        @shared_property
        def value(self) -> object:
            """What takes its time: until the other thread has begun to ask for it."""
            made.append(1)
            assert begun.wait(60)
            return object()

    one, found = Shared(), []
    asking = [threading.Thread(target=lambda: found.append(one.value)) for _ in range(2)]
    for thread in asking:
        thread.start()
    begun.set()
    for thread in asking:
        thread.join(60)
    assert len(made) == 1
    assert found[0] is found[1] is one.value
    assert Shared().value is not one.value
    assert isinstance(Shared.value, shared_property)
