from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.risk.sizes import size_risk


def test_risks_of_class_sizes():
    found = size_risk(np.array([2, 6, 4]))
    assert (found.prosecutor, found.marketer) == (0.5, 0.25)
    assert found.marketer == pytest.approx((2 * (1 / 2) + 6 * (1 / 6) + 4 * (1 / 4)) / 12)


def test_32_bit_sizes_do_not_overflow():
    sizes = np.full(3, 2**30, np.int32)
    assert size_risk(sizes).marketer == 1 / 2**30


@pytest.mark.parametrize("sizes", [[], [3, 0]])
def test_no_class_or_an_empty_one_is_refused(sizes):
    with pytest.raises(ValueError, match="at least one class"):
        size_risk(np.array(sizes, np.int64))
