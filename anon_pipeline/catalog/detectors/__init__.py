"""What tells an identifier of a person by its form: a table of records, one for each kind of identifier.
Decisions: docs/adr/0037-identifier-detectors.md.
"""

from anon_pipeline.catalog.detectors.detector import Detector, Form
from anon_pipeline.catalog.detectors.table import DETECTORS, NAMES

__all__ = ["DETECTORS", "NAMES", "Detector", "Form"]
