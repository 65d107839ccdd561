"""What is said when something fails after a manifest was renamed: the release is out, whatever failed
then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import AnonPipelineError, InputError, PublishError
from anon_pipeline.ledger import Ledger
from anon_pipeline.publish.writer import read_manifest
from anon_pipeline.stages.facts.records import Facts, PerturbedFacts

NOT_AGAIN = "Do not run the release again because of this: a run draws new noise, and costs its ε again."
"""For errors that come after a release was published."""


@dataclass(frozen=True, slots=True, eq=False)
class Out:
    """A release that is being put at its destination.

    epsilon: that it was opened with, and that another draw costs.
    """

    ledger: Ledger
    folder: Path
    release_id: str
    data_digest: str
    epsilon: str

    @contextmanager
    def name_release_in_errors(self) -> Iterator[None]:
        """Say of an error that the release is in place, if it is.

        Raises:
            PublishError: ``in_place``; with the error, and what to do.
        """
        problem = None
        try:
            yield
        except (InputError, PublishError) as error:
            if not self._in_place():
                raise
            problem = str(error)
        if problem is not None:
            raise PublishError(self._message(problem), in_place=True)

    def _in_place(self) -> bool:
        with suppress(PublishError):
            return is_manifest_of(self.folder, self.release_id, self.data_digest)
        return False

    def _message(self, problem: str) -> str:
        entered = "The ledger has it as published."
        if not self._is_entered():
            entered = (
                f"The ledger does not have it as published yet: anon-pipeline ledger close {self.release_id} "
                f"--as published enters it, and so does the next run of this release, before it draws."
            )
        again = ""
        if Fraction(self.epsilon):
            again = (
                f" {NOT_AGAIN[:-1]} (ε = {self.epsilon}). In Dagster, published alone can be materialized "
                f"again at no cost."
            )
        return (
            f"the release {self.release_id} is published and in place, in spite of this error: {problem} "
            f"{entered}{again}"
        )

    def _is_entered(self) -> bool:
        with suppress(AnonPipelineError), self.ledger.page() as page:
            last = page.known_state(self.release_id).last
            return (last.event, last.data_digest) == ("published", self.data_digest)
        return False


def is_manifest_of(folder: Path, release_id: str, data_digest: str | None = None) -> bool:
    """Tell whether the manifest at a destination is of this release, and of this table if one is named.

    Raises:
        PublishError: there is a manifest that cannot be read.
    """
    document = read_manifest(folder) or {}
    same = data_digest is None or document.get("data_digest") == data_digest
    return same and release_id_in(document.get("facts", {})) == release_id


def release_id_in(facts: Facts) -> str | None:
    """Return the id under which the ledger has opened the release that these facts are of."""
    found: Any = facts.get(PerturbedFacts.stage, {}).get("release_id")
    return found if isinstance(found, str) else None
