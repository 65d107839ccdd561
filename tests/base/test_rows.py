"""Rows by their places: what pandas takes, whatever the type, and how often a text repeats."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.rows import take_cells, take_rows

N = 35_000  # as many as are taken side by side


def table(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    few = np.array(["", "a", "ä 1", "b" * 40], object)[rng.integers(0, 4, n)]
    return pd.DataFrame(
        {
            "few": pd.array(few, dtype="str"),
            "holes": pd.array(np.where(rng.random(n) < 0.3, None, few), dtype="str"),
            "void": pd.array([None] * n, dtype="str"),
            "other": pd.array(few, dtype=pd.StringDtype("pyarrow")),
            "python": pd.array(few, dtype=pd.StringDtype("python")),
            "many": pd.array([f"v{i}" for i in range(n)], dtype="str"),
            "whole": rng.integers(0, 9, n),
            "real": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "gaps": pd.array(np.where(rng.random(n) < 0.1, None, 3), dtype="Int64"),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n), unit="D"),
            "kind": pd.Categorical(few),
            "any": few,
        }
    )


@pytest.mark.parametrize("n", [1, 5_000, N])
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_are_those_that_pandas_takes(n: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anon_pipeline.base.threads.processors", lambda: threads)
    frame, rng = table(n), np.random.default_rng(1)
    for rows in (rng.permutation(n), rng.integers(0, n, n), np.empty(0, np.int64)):
        wanted = frame.take(rows).reset_index(drop=True)
        pd.testing.assert_frame_equal(take_rows(frame, rows), wanted)
        for name in frame:
            taken, plain = take_cells(frame[name].array, rows), frame[name].array.take(rows)
            assert type(taken) is type(plain)
            assert taken.equals(plain)


def test_a_column_whose_first_texts_alone_repeat_is_taken_as_it_is() -> None:
    texts = ["same"] * N + [f"v{i}" for i in range(N)]
    column = pd.Series(texts, dtype="str").array
    rows = np.random.default_rng(0).permutation(2 * N)
    assert take_cells(column, rows).equals(column.take(rows))


def test_a_table_without_columns_or_from_several_parts() -> None:
    assert take_rows(pd.DataFrame(index=range(3)), np.array([2, 0])).shape == (2, 0)
    parts = pd.concat([table(5_000)[["few", "many"]]] * 3, ignore_index=True)
    rows = np.random.default_rng(0).permutation(15_000)
    pd.testing.assert_frame_equal(take_rows(parts, rows), parts.take(rows).reset_index(drop=True))
