"""Publishing: bytes judged by the gate, written atomically, described by a manifest."""

from anon_pipeline.publish.judgment import Judged, judge
from anon_pipeline.publish.release import Published, publish

__all__ = ["Judged", "Published", "judge", "publish"]
