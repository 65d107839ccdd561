"""The entries of the example: one of each kind that a plugin can add. Their code is imported later."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from pydantic import Field, model_validator

from anon_pipeline.catalog.entries import (
    FULL_DOMAIN,
    Format,
    HierarchyKind,
    LimitKey,
    Loss,
    Mechanism,
    Recoder,
    SourceKind,
)
from anon_pipeline.policy.fields import LocalPath, Share, Strict, Whole
from anon_pipeline.policy.marks import AFTER, SHOWN, TEXT, Below


class Prefix(Strict):
    """The first characters of a text, fewer on each level; then ``*``."""

    prefix: Annotated[tuple[Annotated[Whole, Field(ge=1)], ...], SHOWN] = Field(min_length=1)

    @model_validator(mode="after")
    def _shorter(self) -> Prefix:
        if any(after >= before for before, after in pairwise(self.prefix)):
            raise ValueError(f"the numbers of characters must decrease, got {list(self.prefix)}")
        return self


class Zipped(Strict):
    """A file in a ZIP archive."""

    file: Annotated[LocalPath, Below("sources")] = Field(
        description="Archive, relative to the folder of sources."
    )
    member: Annotated[str, TEXT] = Field(description="Path in the archive; may hold {partition}.")


LARGEST_CLASS = LimitKey(
    "largest_class",
    Annotated[Share | None, SHOWN, AFTER],
    "Largest share of the records that one class may hold.",
    "anon_example.limit:LARGEST_CLASS",
)
TRIANGLE = Mechanism("triangle", "triangular", "anon_example.triangle:LAW", promises="nothing")
LOWEST = Recoder(
    "lowest",
    "the first node that keeps all limits, from the lowest total level up",
    FULL_DOMAIN,
    "anon_example.lowest:lowest_node",
    needs_levels=True,
)
JSON_LINES = Format("json_lines", "anon_example.reader:json_lines_frame")
ZIPPED = SourceKind(
    "zipped",
    Zipped | None,
    "File in a ZIP archive.",
    "anon_example.zipped:zipped_frame",
    partition=("{partition}",),
    partition_in=("member",),
)
PREFIX = HierarchyKind(
    "prefix",
    Prefix,
    "anon_example.prefixes:prefix_column",
    "anon_example.prefixes:prefix_texts",
    computed=True,
)
SQUARED_LEVELS = Loss(
    "squared_levels", "squares of levels", "cells", "anon_example.squares:SQUARED_LEVELS", exact=False
)
