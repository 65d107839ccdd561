"""Fields of the policy that name a kind: one of the names of its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS, MECHANISMS
from anon_pipeline.catalog.named import one_of
from anon_pipeline.catalog.recoders import PREFERENCES, RECODERS
from anon_pipeline.catalog.sources import FORMATS, GENERATORS

if TYPE_CHECKING:
    Mechanism = str
    CategoryMechanism = str
    FileFormat = str
    GeneratorName = str
    RecoderName = str
    Preference = str
    LossName = str
else:
    Mechanism, CategoryMechanism = one_of(MECHANISMS), one_of(CATEGORY_MECHANISMS)
    FileFormat, GeneratorName = one_of(FORMATS), one_of(GENERATORS)
    RecoderName, Preference = one_of(RECODERS), one_of(dict.fromkeys(PREFERENCES))
    LossName = one_of(LOSSES)
