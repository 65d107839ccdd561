"""Publishing: bytes judged by the gate, written atomically, described by a manifest."""

from anon_pipeline.publish.release import Judged, Published, judge, publish

__all__ = ["Judged", "Published", "judge", "publish"]
