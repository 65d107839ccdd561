"""The observer that writes into a run's log."""

from collections.abc import Callable
from dataclasses import dataclass

from anon_pipeline.base.observer import Progress, Step
from anon_pipeline.base.quiet import own_words


@dataclass(slots=True)
class Log:
    """Writes how far a search is, each time that its count has doubled: Dagster stores every line.

    info: such as ``context.log.info``.
    next_count: the count that is written next.
    """

    info: Callable[[str], None]
    next_count: int = 1

    def __call__(self, event: Step | Progress) -> None:
        """Write an event."""
        if isinstance(event, Step):
            self._say(event.name)
        elif event.doing == "loading" or event.counted >= self.next_count:
            self._say(event.as_text())
            self.next_count = max(1, 2 * event.counted)

    def _say(self, text: str) -> None:
        with own_words():
            self.info(text)
