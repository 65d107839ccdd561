"""Loops of `informed_linking`: which original fits a released record best."""

from __future__ import annotations

import numpy as np

from anon_pipeline.base.compilation import kernel

_CLOSE = 1e-9  # relative difference of scores that still counts as a tie


@kernel
def look(compared, places, learned, plan):  # type: ignore[no-untyped-def]
    """Return how many are linked of those that were looked at, and how many these are."""
    starts, lots, most, enough = plan
    linked, looked = 0.0, 0
    while looked < most and linked < enough:
        missed = 1.0
        for i in range(starts[looked], starts[looked + 1]):
            missed *= 1 - _chance(i, compared, places, learned)
        if len(lots) == 0:  # all are looked at: what a lot would decide is added up
            linked += 1 - missed
        elif lots[looked] < 1 - missed:
            linked += 1
        looked += 1
    return linked, looked


@kernel
def _chance(i, compared, places, learned):  # type: ignore[no-untyped-def]
    """Return the chance that the guess for a released record is right."""
    seen, own, known = compared
    place, first, last, who, theirs, begin, counts = places
    bins, lifts = learned
    # What was learned without this record.
    table = lifts[0].copy()
    for j in range(len(bins)):
        moved = bins[j, int(abs(seen[i, j] - own[i, j]))]
        table[j, moved] = lifts[1, j, moved]
    # The best guess among the originals of whom it is.
    shown, mine, right = seen[i], -np.inf, 0
    his = theirs[begin[who[i]] : begin[who[i] + 1]]
    for k in his:
        if first[i] <= k < last[i]:
            score = _score(shown, own[i] if k == place[i] else known[k], bins, table)
            if score > mine + _CLOSE * (1 + abs(score)):
                mine, right = score, 0
            if score >= mine - _CLOSE * (1 + abs(score)):
                right += 1
    # Others, from the nearest by the first column on, until none can be better.
    above, below = mine + _CLOSE * (1 + abs(mine)), mine - _CLOSE * (1 + abs(mine))
    ahead, rest = _best_ahead(table)
    up = first[i] + np.searchsorted(known[first[i] : last[i], 0], shown[0])
    down, wrong = up - 1, 0
    while down >= first[i] or up < last[i]:
        far_down = shown[0] - known[down, 0] if down >= first[i] else np.inf
        far_up = known[up, 0] - shown[0] if up < last[i] else np.inf
        apart = min(far_down, far_up)
        most = -apart * apart if len(bins) == 0 else ahead[bins[0, int(apart)]] + rest
        if most < below:
            break
        if far_down <= far_up:
            k, down = down, down - 1
        else:
            k, up = up, up + 1
        score = _score(shown, own[i] if k == place[i] else known[k], bins, table)
        if score >= below:
            others = counts[k]
            for one in his:
                others -= one == k
            if others > 0 and score > above:
                return 0.0
            wrong += others
    return right / (right + wrong)


@kernel
def _best_ahead(table):  # type: ignore[no-untyped-def]
    """Return the best score of the first column from each bin on, and that of all other columns together."""
    ahead, rest = np.empty(table.shape[1]), 0.0
    for j in range(len(table)):
        best = -np.inf
        for b in range(table.shape[1] - 1, -1, -1):
            best = max(best, table[j, b])
            if j == 0:
                ahead[b] = best
        rest += best if j > 0 else 0.0
    return ahead, rest


@kernel
def _score(shown, original, bins, table):  # type: ignore[no-untyped-def]
    """Return how well an original fits a released record: more is better."""
    total = 0.0
    if len(bins) == 0:
        for j in range(len(shown)):
            total -= (shown[j] - original[j]) ** 2
    else:
        for j in range(len(shown)):
            total += table[j, bins[j, int(abs(shown[j] - original[j]))]]
    return total
