"""For tests of those who use the package: asserting that a table may be released, and a fixture of pytest."""

from anon_pipeline.testing.assertion import assert_releasable

__all__ = ["assert_releasable"]
