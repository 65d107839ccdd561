"""A limit: the share of the records that the largest class holds."""

from anon_pipeline.limits.limit import Limit

LARGEST_CLASS = Limit(
    name="largest_class",
    meaning="No class holds more than this share of the records.",
    measure=lambda case, demand: float(case.evidence.classes.sizes.max() / case.evidence.classes.sizes.sum()),
)
