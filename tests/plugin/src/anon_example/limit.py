"""A limit: the share of the records that the largest class holds."""

from anon_pipeline.limits.limit import Limit
from anon_pipeline.limits.traits import Judged, Words

LARGEST_CLASS = Limit(
    "largest_class",
    Words("No class holds more than this share of the records."),
    Judged(lambda case, demand: float(case.evidence.classes.sizes.max() / case.evidence.classes.sizes.sum())),
)
