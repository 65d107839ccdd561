"""No object of the package shows its arrays and tables when it is printed: they hold the data."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re

import pytest

import anon_pipeline

_MODULES = [name for _, name, _ in pkgutil.walk_packages(anon_pipeline.__path__, "anon_pipeline.")]
_HOLD = re.compile(r"NDArray|ndarray|DataFrame|Series|bytes|\bTable\b|\bCodes\b|pa\.Array")
_SHOWN = {"EquivalenceClasses"}  # which record is in which class, and how large; no value


def _held() -> list[tuple[str, str, bool]]:
    """List every field that holds data: its class, its name, whether it is shown."""
    found = []
    for module in map(importlib.import_module, _MODULES):
        for name, kind in vars(module).items():
            if not (isinstance(kind, type) and dataclasses.is_dataclass(kind) and name not in _SHOWN):
                continue
            silent = not kind.__dataclass_params__.repr
            found += [
                (name, field.name, field.repr and not silent)
                for field in dataclasses.fields(kind)
                if _HOLD.search(str(field.type))
                and not str(field.type).startswith("Callable")  # a function holds no data
            ]
    return found


def test_what_holds_data_is_not_shown() -> None:
    held = _held()
    assert {"Staged", "Evidence", "Hierarchy", "Recoding", "Release"} <= {name for name, _, _ in held}
    assert sorted({f"{name}.{field}" for name, field, shown in held if shown}) == []


@pytest.mark.parametrize("name", sorted(_SHOWN))
def test_the_exceptions_are_there(name: str) -> None:
    assert any(hasattr(importlib.import_module(module), name) for module in _MODULES)
