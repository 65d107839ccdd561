"""What goes wrong on personal data loses its text, its causes and its frames."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.gate.great_expectations.failures import MeasureFailed, without_values


def _chained() -> int:
    """Raise an error whose cause and context quote a value too."""
    try:
        try:
            raise KeyError("CANARY-7f3a")
        except KeyError as error:
            raise ValueError("CANARY-7f3a") from error
    except ValueError:
        raise TypeError("CANARY-7f3a")  # noqa: B904 - the context is the point


def test_an_unknown_error_loses_its_text_its_causes_and_its_frames() -> None:
    with pytest.raises(MeasureFailed) as caught:
        without_values("release.k", _chained)
    failure = caught.value
    assert (failure.kind, failure.__cause__, failure.__context__) == ("TypeError", None, None)
    assert str(failure).startswith("release.k could not be measured: TypeError: The stage release.k crashed")
    text = "".join(traceback.format_exception(failure))
    assert "CANARY" not in text
    assert "in _chained" not in text


def test_a_named_error_keeps_its_text_but_not_its_context() -> None:
    def named() -> int:
        try:
            return int("CANARY-7f3a")
        except ValueError:
            raise InputError(["a: got 2 texts", "b: got 1"])  # noqa: B904 - the context is the point

    with pytest.raises(MeasureFailed) as caught:
        without_values("release.k", named)
    assert (caught.value.kind, caught.value.reason) == ("InputError", "a: got 2 texts\nb: got 1")
    assert "CANARY" not in "".join(traceback.format_exception(caught.value))


def test_an_interrupt_passes() -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        without_values("release.k", interrupted)


def test_what_is_measured_is_returned() -> None:
    assert without_values("release.k", lambda: np.int64(3)) == 3
