"""What `run` says of the release before: nothing the first time, then that its files lie there still."""

from __future__ import annotations

import json
from collections.abc import Callable

from jsonschema import validate

from anon_pipeline.cli.documents import schema_of
from tests.cli.projects import Folder


def test_a_second_release_says_that_the_first_was_replaced_and_lies_there(
    folder: Callable[..., Folder],
) -> None:
    made = folder()
    assert "earlier" not in made.call("run", "policy.yaml").out
    first = set(made.released)
    done = made.call("run", "policy.yaml")
    assert (done.code, "earlier   2 files of the release before lie here still." in done.out) == (0, True)
    assert len(set(made.released) & first) == 4  # and the manifest and the policy, which have the same names
    document = json.loads(made.call("run", "policy.yaml", "--json").out)
    validate(document, schema_of("run"))
    assert document["earlier"] == 2  # of the second one; the first one's were removed
