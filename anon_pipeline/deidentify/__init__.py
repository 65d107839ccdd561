"""Direct identifiers: declared ones are removed or replaced, undeclared ones are found by pattern."""

from anon_pipeline.deidentify.identifiers import MASKED, deidentify, hashing_key, read_key
from anon_pipeline.deidentify.patterns import matches
from anon_pipeline.deidentify.persons import ID, memory_key, person_ids

__all__ = [
    "ID",
    "MASKED",
    "deidentify",
    "hashing_key",
    "matches",
    "memory_key",
    "person_ids",
    "read_key",
]
