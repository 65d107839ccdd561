"""What the tests here share."""

from __future__ import annotations

from tests.utility.released import people  # noqa: F401 - a fixture
