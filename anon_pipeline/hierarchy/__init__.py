"""Generalization hierarchies: read or computed, validated, one lookup array per level."""

from anon_pipeline.hierarchy.build import code_column
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.hierarchy.levels import TOP

__all__ = ["TOP", "Hierarchy", "code_column"]
