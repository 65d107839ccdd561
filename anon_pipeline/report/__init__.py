"""The report of a release for people: one self-contained HTML file, public or internal.
Decisions: docs/adr/0025-reports.md.
"""

from anon_pipeline.report.columns import SizeBin, class_sizes
from anon_pipeline.report.make import internal_report, public_report
from anon_pipeline.report.manifest_data import Exact
from anon_pipeline.report.notebook import release_html

__all__ = ["Exact", "SizeBin", "class_sizes", "internal_report", "public_report", "release_html"]
