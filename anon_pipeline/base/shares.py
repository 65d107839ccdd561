"""Shares as people read them: per cent, with as many digits as tell something."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal

_DIGITS = 3
_SMALLEST = 1e-5  # below it, zeros would be all that is read


def percent(share: float, digits: int = _DIGITS) -> str:
    """Write a share in per cent, to so many significant digits; never 0 % or 100 % if it is not that.

    >>> percent(0.25), percent(0.06667), percent(0.00123), percent(0.0), percent(1.0)
    ('25 %', '6.67 %', '0.123 %', '0 %', '100 %')
    >>> percent(0.99996), percent(0.000001), percent(-0.25), percent(12.5)
    ('99.996 %', 'below 0.001 %', '-25 %', '1,250 %')
    """
    if share == 0 or not math.isfinite(share):
        return f"{share:g} %" if share else "0 %"
    if abs(share) < _SMALLEST:
        return "below 0.001 %"
    per_cent = 100 * share
    rounded = float(f"{per_cent:.{digits}g}")
    while abs(rounded) == 100 != abs(per_cent) and digits < 15:
        digits += 1
        rounded = float(f"{per_cent:.{digits}g}")
    places = max(digits - 1 - math.floor(math.log10(abs(rounded))), 0)
    text = f"{rounded:,.{places}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def percent_at_most(share: float, digits: int = _DIGITS) -> str:
    """Write an upper bound of a share in per cent, as `percent` does, but never less than it is.

    >>> percent_at_most(1 / 28), percent_at_most(0.07), percent_at_most(0.99951), percent_at_most(1.0)
    ('3.58 %', '7 %', '99.96 %', '100 %')
    """
    if share < _SMALLEST or not math.isfinite(share):
        return percent(share, digits)
    exact = Decimal(f"{100 * share:.{_EXACT}g}")
    bound = _rounded_up(exact, digits)
    while bound == 100 != exact and digits < _EXACT:
        digits += 1
        bound = _rounded_up(exact, digits)
    return percent(float(bound) / 100, digits)


_EXACT = 12  # significant digits; what is beyond them comes from computing


def _rounded_up(exact: Decimal, digits: int) -> Decimal:
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), ROUND_CEILING)
