"""Fields of the policy that name a kind: one of the names of its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anon_pipeline.catalog.column_types import COLUMN_TYPES
from anon_pipeline.catalog.entry_code import one_of
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.mechanisms import CATEGORY_CHANGES, CATEGORY_MECHANISMS, MECHANISMS
from anon_pipeline.catalog.recoders import PREFERENCES, RECODERS
from anon_pipeline.catalog.releases import PARTITION_KINDS, RELEASE_FORMATS
from anon_pipeline.catalog.sources import FORMATS, GENERATORS

if TYPE_CHECKING:
    Mechanism = str
    CategoryMechanism = str
    Action = str
    FileFormat = str
    ReleaseFormat = str
    PartitionName = str
    GeneratorName = str
    RecoderName = str
    Preference = str
    LossName = str
    ColumnTypeName = str
else:
    Mechanism, CategoryMechanism = one_of(MECHANISMS), one_of({**CATEGORY_MECHANISMS, **CATEGORY_CHANGES})
    Action = one_of(IDENTIFIER_ACTIONS)
    FileFormat, GeneratorName = one_of(FORMATS), one_of(GENERATORS)
    ReleaseFormat, PartitionName = one_of(RELEASE_FORMATS), one_of(PARTITION_KINDS)
    RecoderName, Preference = one_of(RECODERS), one_of(dict.fromkeys(PREFERENCES))
    LossName = one_of(LOSSES)
    ColumnTypeName = one_of(COLUMN_TYPES)
