"""Policies that are small as files and large once they are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.base.size_bounds import POLICY_BYTES, POLICY_DEPTH
from anon_pipeline.policy import load_policy, parse_policy


def laughs(times: int) -> str:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, times)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (laughs(10), "at most 100,000 keys and values, aliases written out"),
        (laughs(100), "at most"),
        ("a: &a [*a]", "the policy must be finite"),
        ("a: &a {b: *a}", "the policy must be finite"),
        ("[" * (POLICY_DEPTH + 2) + "]" * (POLICY_DEPTH + 2), f"at most {POLICY_DEPTH} levels deep"),
        ("a: &a " + "[" * 40 + "]" * 40 + "\nb: " + "[" * 40 + "*a" + "]" * 40, "levels deep"),
        ("a: 1" + ":59" * 40_000, "a number must have at most 100 characters"),
        ("a: 0x" + "f" * 9_000, "a number must have at most 100 characters"),
        ("a: " + "b" * 10_001, "a text must have at most 10,000 characters"),
        ("#" * (POLICY_BYTES + 1), "at most 1,048,576 bytes"),
    ],
    ids=lambda value: value[:30],
)
def test_bombs(text: str, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy(text)
    assert message in str(caught.value)


def test_aliases_that_stay_small_are_welcome() -> None:
    with pytest.raises(PolicyError, match="type: must be"):
        parse_policy("a: &a [1, 2]\nb: [*a, *a]\nattributes: {}")


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "policy.yaml").open("wb") as file:
        file.truncate(2**40)  # sparse
    with pytest.raises(PolicyError, match="at most 1,048,576 bytes, got more"):
        load_policy(tmp_path / "policy.yaml")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "policy.yaml")
    with pytest.raises(PolicyError, match="it is no plain file"):
        load_policy(tmp_path / "policy.yaml")
