"""Between tables and arrays: columns as codes and as grid units, noise and categories as policies say.

Decision: docs/adr/0002-classes-are-by-released-value.md.
"""
