"""How identifiers of people are recognized by their form: a table with a record for each kind.
Decisions: docs/adr/0037-identifier-detectors.md.
"""

from anon_pipeline.catalog.detectors.detector import Detector, Form
from anon_pipeline.catalog.detectors.table import DETECTORS, NAMES

__all__ = ["DETECTORS", "NAMES", "Detector", "Form"]
