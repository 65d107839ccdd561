"""What is pinned can be installed by the oldest Python that the project accepts."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[1]


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if re.match(r"[A-Za-z0-9]", line))


def test_pins_accept_the_oldest_python_of_the_project() -> None:
    """Python 3.11.2 is that of Debian 12: two pins that needed 3.11.5 stopped `make test` there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (oldest,) = SpecifierSet(project["requires-python"])
    assert (oldest.operator, oldest.version) == (">=", "3.11")
    looked, refused = 0, []
    for name, version in pinned().items():
        try:
            found = metadata(name)
        except PackageNotFoundError:  # of another platform, or of an extra that is not installed
            continue
        if found["Version"] != version:
            continue
        looked += 1
        if f"{oldest.version}.0" not in SpecifierSet(found["Requires-Python"] or ""):
            refused.append(f"{name}=={version} requires Python {found['Requires-Python']}")
    assert looked > len(pinned()) / 2
    assert refused == []
