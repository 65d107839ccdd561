"""Direct identifiers: declared ones are removed or replaced, undeclared ones are found by pattern."""

from anon_pipeline.deidentify.identifiers import MASKED, deidentify, read_key
from anon_pipeline.deidentify.patterns import PATTERNS, matches

__all__ = ["MASKED", "PATTERNS", "deidentify", "matches", "read_key"]
