"""Counts of patterns are those of every pair by itself, whether they are kept or compared again."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.risk import pattern_counts as counts
from anon_pipeline.risk.comparison import Levels, LinkageFiles, levels_of
from anon_pipeline.risk.pattern_counts import OUTCOMES, pattern_counts


def files_of(seed: int, a: int = 7, n: int = 20) -> tuple[LinkageFiles, Levels]:
    random = np.random.default_rng(seed)
    codes, numbers = random.integers(0, 3, (n, 2)), random.integers(0, 6, (n, 1)).astype(np.float64)
    own = random.integers(0, n, a)
    known = numbers[own] + random.integers(-1, 2, (a, 1))
    files = LinkageFiles(codes[own], codes, known, numbers, own)
    return files, levels_of(files, (np.array([0.0, 2.0]),))


def pattern(files: LinkageFiles, levels: Levels, i: int, j: int) -> int:
    """From the definition: the levels of one pair, as the number of a pattern."""
    apart = abs(float(files.known_numbers[i, 0] - files.numbers[j, 0]))
    different = [int(a != b) for a, b in zip(files.known_codes[i], files.codes[j], strict=True)]
    found = [*different, sum(apart > cut for cut in levels.cuts[0].tolist())]
    return int(sum(level * stride for level, stride in zip(found, levels.strides.tolist(), strict=True)))


@pytest.mark.parametrize("kept", [0, 2**22])
@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_each_pair(seed: int, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "_KEPT", kept)
    files, levels = files_of(seed)
    pairs = [[pattern(files, levels, i, j) for j in range(len(files.codes))] for i in range(len(files.own))]
    random = np.random.default_rng(seed)
    outcomes, ranks = random.integers(0, OUTCOMES, levels.patterns), random.integers(0, 4, levels.patterns)
    found = pattern_counts(files, levels)
    assert found.mine.tolist() == [row[own] for row, own in zip(pairs, files.own, strict=True)]
    assert found.total.tolist() == np.bincount(np.ravel(pairs), minlength=levels.patterns).tolist()
    called = [[int(outcomes[at]) for at in row] for row in pairs]
    assert found.by_outcome(outcomes).tolist() == [[row.count(one) for one in range(4)] for row in called]
    ranked = [[int(ranks[at]) for at in row] for row in pairs]
    assert found.best(ranks).tolist() == [[max(row), row.count(max(row))] for row in ranked]
