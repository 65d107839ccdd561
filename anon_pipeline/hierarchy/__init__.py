"""Generalization hierarchies: read or computed, validated, one lookup array per level."""

from anon_pipeline.hierarchy.build import code_column
from anon_pipeline.hierarchy.levels import TOP
from anon_pipeline.hierarchy.model import Hierarchy

__all__ = ["TOP", "Hierarchy", "code_column"]
