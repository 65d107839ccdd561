"""Who the synthetic patients are and where they live: names, contacts, regions, race.

Nobody is meant: names are frequent US names combined at random,
Social Security numbers come from ranges that are never issued, phone numbers from the block kept for fiction,
e-mail addresses from domains reserved by RFC 2606. ZIP prefixes and area codes exist and fit together; region
shares, race by region and name frequencies are plausible numbers of our own, without a source.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.order import count_values


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


FEMALE_NAMES: Final = _words(
    """
    Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Lisa Nancy Betty Sandra
    Margaret Ashley Kimberly Emily Donna Michelle Carol Amanda Melissa Deborah Stephanie Rebecca Laura
    Sharon Cynthia Kathleen Amy Angela Shirley Anna Brenda Pamela Emma Nicole Helen Samantha Katherine
    Christine Rachel Carolyn Janet Maria Catherine Heather Diane Olivia Julie Joyce Victoria Ruth Virginia
    Lauren Kelly Christina Joan Evelyn
    """
)
MALE_NAMES: Final = _words(
    """
    James Robert John Michael David William Richard Joseph Thomas Christopher Charles Daniel Matthew Anthony
    Mark Donald Steven Andrew Paul Joshua Kenneth Kevin Brian George Timothy Ronald Edward Jason Jeffrey
    Ryan Jacob Gary Nicholas Eric Jonathan Stephen Larry Justin Scott Brandon Benjamin Samuel Gregory
    Alexander Patrick Frank Raymond Jack Dennis Jerry Tyler Aaron Jose Adam Nathan Henry Zachary Douglas
    Peter Kyle
    """
)
LAST_NAMES: Final = _words(
    """
    Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Martinez Hernandez Lopez Gonzalez
    Wilson Anderson Thomas Taylor Moore Jackson Martin Lee Perez Thompson White Harris Sanchez Clark Ramirez
    Lewis Robinson Walker Young Allen King Wright Scott Torres Nguyen Hill Flores Green Adams Nelson Baker
    Hall Rivera Campbell Mitchell Carter Roberts Gomez Phillips Evans Turner Diaz Parker Cruz Edwards
    Collins Reyes
    """
)

RACES: Final = ("White", "Black", "Hispanic", "Asian", "American Indian", "Other")


class Region(NamedTuple):
    """A 3-digit ZIP region: share of the patients, number of ZIP codes, people by `RACES` in percent."""

    prefix: str
    area_code: str
    share: float
    zips: int
    races: tuple[float, ...]


REGIONS: Final = (
    Region("021", "617", 9.0, 30, (62, 12, 13, 9, 0.5, 3.5)),
    Region("036", "603", 0.4, 4, (95, 1, 1.5, 1, 0.5, 1)),
    Region("100", "212", 8.0, 40, (50, 13, 23, 12, 0.4, 1.6)),
    Region("104", "718", 6.0, 25, (11, 29, 53, 4, 0.6, 2.4)),
    Region("178", "570", 9.0, 30, (93, 2, 3, 1, 0.2, 0.8)),
    Region("303", "404", 8.0, 30, (41, 46, 6, 5, 0.3, 1.7)),
    Region("331", "305", 7.0, 35, (15, 15, 67, 1.5, 0.2, 1.3)),
    Region("431", "740", 12.0, 30, (88, 5, 3, 2, 0.3, 1.7)),
    Region("554", "612", 11.0, 35, (70, 13, 8, 5, 1.5, 2.5)),
    Region("606", "312", 9.0, 40, (36, 27, 28, 7, 0.3, 1.7)),
    Region("770", "713", 7.0, 40, (30, 21, 40, 7, 0.4, 1.6)),
    Region("821", "307", 0.3, 2, (86, 0.5, 6, 1.5, 4.5, 1.5)),
    Region("836", "208", 7.0, 20, (84, 1, 10, 2, 1, 2)),
    Region("871", "505", 4.0, 20, (41, 3, 46, 2.5, 5, 2.5)),
    Region("968", "808", 2.3, 20, (21, 2.5, 9, 54, 0.3, 13.2)),
)

MAX_PEOPLE: Final = 10_000_000
"""As many as get a Social Security number of their own in reasonable time."""

_GROUPS, _SERIALS = 50, 10_000
_NEVER_ISSUED: Final = 100 * _GROUPS * _SERIALS


def draw(
    probabilities: NDArray[np.float64], rows: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw one category per record, each from its own row of probabilities.

    Args:
        probabilities: (r, c) weights, not negative; a row need not add up to 1.
        rows: (n,) row of each record.
    Returns:
        (n,) categories in [0, c); one of weight 0 is never drawn.
    """
    total = np.cumsum(probabilities, axis=1)
    edges = (total / total[:, -1:] + np.arange(len(total))[:, None]).ravel()
    below_one = rng.random(len(rows)) * (1 - 1e-9)
    columns: NDArray[np.int64] = (
        np.searchsorted(edges, rows + below_one, side="right") - rows * probabilities.shape[1]
    )
    return columns


def text(values: Sequence[str], codes: NDArray[np.int64]) -> Any:
    """Return (n,) a pandas text array of the values that the codes name; -1 is missing."""
    return pd.array(values, dtype="str").take(codes, allow_fill=True)


def first_and_last(female: NDArray[np.bool_], rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw first names that fit the sex, and last names; two (n,) text arrays."""
    rarity = 1 / (np.arange(len(LAST_NAMES)) + 8.0)
    first = draw(rarity[None, : len(FEMALE_NAMES)], np.zeros(len(female), dtype=np.int64), rng)
    last = draw(rarity[None, :], np.zeros(len(female), dtype=np.int64), rng)
    names = [*FEMALE_NAMES, *MALE_NAMES]
    return text(names, np.where(female, first, first + len(FEMALE_NAMES))), text(LAST_NAMES, last)


def emails(first: Any, last: Any, rng: np.random.Generator) -> Any:
    """Build (n,) addresses from the names, a number and a domain reserved for examples."""
    numbers = text([str(number) for number in range(1, 100)], rng.integers(0, 99, len(first)))
    domain = text(["@example.org", "@example.com"], rng.integers(0, 2, len(first)))
    local = pd.Series(first + "." + last).str.lower().array
    return local + numbers + domain


def ssns(people: int, rng: np.random.Generator) -> Any:
    """Draw (people,) distinct Social Security numbers that no one can have.

    Areas 900 to 999 are never issued as Social Security numbers; groups 00 to 49 keep clear of the taxpayer
    numbers (ITIN, ATIN) that live in the same areas.
    """
    found = _different(rng.integers(0, _NEVER_ISSUED, people + people // 8 + 64))
    while len(found) < people:
        found = _different(np.concatenate([found, rng.integers(0, _NEVER_ISSUED, people)]))
    number = rng.permutation(found)[:people]
    area, rest = np.divmod(number, _GROUPS * _SERIALS)
    group, serial = np.divmod(rest, _SERIALS)
    head = text([f"{900 + a}-{g:02d}-" for a in range(100) for g in range(_GROUPS)], area * _GROUPS + group)
    return head + text([f"{s:04d}" for s in range(_SERIALS)], serial)


def _different(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different ones of numbers below `_NEVER_ISSUED`, ascending."""
    return count_values(numbers, _NEVER_ISSUED)[0]


def phones(region: NDArray[np.int64], rng: np.random.Generator) -> Any:
    """Build (n,) numbers such as (212) 555-0123 from the block 555-0100 to 555-0199, kept for fiction."""
    area = text([f"({region.area_code}) 555-01" for region in REGIONS], region)
    return area + text([f"{line:02d}" for line in range(100)], rng.integers(0, 100, len(region)))


def addresses(people: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], Any, NDArray[np.int64]]:
    """Draw where people live: region, 5-digit ZIP text and race (a code of `RACES`), each (people,).

    A region's first ZIP codes are its most populous ones; race depends on the region.
    """
    region = draw(np.array([[region.share for region in REGIONS]]), np.zeros(people, dtype=np.int64), rng)
    most = max(region.zips for region in REGIONS)
    sizes = np.array([[1 / (z + 3) if z < region.zips else 0.0 for z in range(most)] for region in REGIONS])
    codes = [f"{region.prefix}{z + 1:02d}" for region in REGIONS for z in range(most)]
    place = text(codes, region * most + draw(sizes, region, rng))
    race = draw(np.array([region.races for region in REGIONS]), region, rng)
    return region, place, race
