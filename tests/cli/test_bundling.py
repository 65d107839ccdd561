"""The command bundle: where it does not write."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.publish.projects import Project

Make = Callable[..., Project]


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("audit.txt", "file name must end in .zip"),
        ("out/audit.zip", "must not go to the release's folder"),
        ("there.zip", "there.zip exists: the bundle must be a new file. Give another name to --to."),
        ("no/audit.zip", "can be written"),
    ],
)
def test_where_it_does_not_write(project: Make, to: str, said: str) -> None:
    made = project(publish={"to": "out"})
    (made.path / "there.zip").write_bytes(b"mine")
    code, shown = made.call("bundle", "out", "--policy", "policy.yaml", "--to", to)
    assert code == 2
    assert said in shown
    assert (made.path / "there.zip").read_bytes() == b"mine"
