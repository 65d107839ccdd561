"""The chain: whatever is done to rows that were written, it is found."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.ledger.chain import GENESIS, Event, Head, broken_at, head_of, seal_event

KINDS = st.sampled_from(["opened", "published", "failed", "withdrawn"])
TEXTS = st.text(max_size=6)


@st.composite
def chains(draw: st.DrawFn, least: int = 0) -> list[Event]:
    events: list[Event] = []
    for _ in range(draw(st.integers(least, 6))):
        new = Event(
            0,
            draw(TEXTS),
            draw(TEXTS),
            draw(KINDS),
            draw(TEXTS),
            draw(TEXTS),
            draw(st.none() | TEXTS),
            draw(TEXTS),
            draw(TEXTS),
            draw(st.none() | TEXTS),
            draw(st.integers(0, 9)),
            draw(st.sampled_from(["1", "2", "0.1"])),
            draw(TEXTS),
        )
        events.append(seal_event(new, head_of(events)))
    return events


@given(chains())
def test_a_chain_as_it_was_written_holds(events: list[Event]) -> None:
    assert broken_at(events, head_of(events)) is None


@given(chains(least=1), st.data())
def test_any_edit_is_found_at_its_event(events: list[Event], data: st.DataObject) -> None:
    i = data.draw(st.integers(0, len(events) - 1))
    name = data.draw(st.sampled_from([f.name for f in fields(Event) if f.name != "seq"]))
    old = getattr(events[i], name)
    new = old + 1 if isinstance(old, int) else (old or "") + "x"
    edited = [*events[:i], replace(events[i], **{name: new}), *events[i + 1 :]]
    broken = broken_at(edited, head_of(events))
    assert broken is not None
    assert broken.seq == i + 1


@given(chains(least=1), st.data())
def test_an_edit_with_a_new_hash_is_found_at_the_next_event(events: list[Event], data: st.DataObject) -> None:
    i = data.draw(st.integers(0, len(events) - 1))
    changed = replace(events[i], epsilon="0")
    edited = [*events[:i], replace(changed, hash=changed.digest()), *events[i + 1 :]]
    broken = broken_at(edited, head_of(events))
    assert broken is not None
    assert broken.seq == i + 2


@given(chains(least=1), st.data())
def test_any_removal_is_found_at_the_gap_the_end_included(events: list[Event], data: st.DataObject) -> None:
    i = data.draw(st.integers(0, len(events) - 1))
    j = data.draw(st.integers(i + 1, len(events)))
    broken = broken_at([*events[:i], *events[j:]], head_of(events))
    assert broken is not None
    assert broken.seq == i + 1


@given(chains(), st.data(), st.booleans())
def test_any_insertion_is_found(events: list[Event], data: st.DataObject, renumbered: bool) -> None:
    i = data.draw(st.integers(0, len(events)))
    extra = data.draw(chains(least=1))[0]
    inserted = seal_event(extra, head_of(events[:i]))
    rest = [replace(e, seq=e.seq + 1) for e in events[i:]] if renumbered else events[i:]
    broken = broken_at([*events[:i], inserted, *rest], head_of(events))
    assert broken is not None


@given(chains(least=2), st.data(), st.booleans())
def test_any_reordering_is_found(events: list[Event], data: st.DataObject, renumbered: bool) -> None:
    order = data.draw(st.permutations(range(len(events))))
    moved = [events[i] for i in order]
    if renumbered:
        moved = [replace(event, seq=i) for i, event in enumerate(moved, start=1)]
    broken = broken_at(moved, head_of(events))
    assert (broken is None) == (order == sorted(order))


def test_the_first_event_follows_nothing() -> None:
    event = seal_event(Event(0, "a", "t", "opened", "d", "r", None, "p", "m", None, 5, "1", "o"), Head())
    assert (event.seq, event.prev) == (1, GENESIS)
    assert len(event.hash) == 64
