"""How many changes of a manifest does `verify` miss: every leaf and every key changed, one at a time.

Nothing else is made to fit: no digest is redone. `python -m tests.adversarial.mutations RELEASE --policy
POLICY` prints how many leaves can be changed unnoticed, and which.
Belongs here: changing manifests, counting what is missed. Does not belong here: verifying (`publish.verify`).
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pandas as pd

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import AnonPipelineError
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.encode.categories import category_facts
from anon_pipeline.encode.grids import noises
from anon_pipeline.gate import Status, evaluate
from anon_pipeline.hierarchy.level_of_text import broken_levels
from anon_pipeline.limits.table import demands
from anon_pipeline.policy import Policy, load_policy
from anon_pipeline.policy.public import differs, public_policy
from anon_pipeline.policy.version_1 import making_1
from anon_pipeline.publish import policy_file
from anon_pipeline.publish.file_formats import column_types, from_bytes, read_release
from anon_pipeline.publish.manifest import extensions
from anon_pipeline.publish.manifest.extensions import plugins_of
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.release_files import Read, readings
from anon_pipeline.publish.verify import manifest_facts, verify, verify_files
from anon_pipeline.publish.verify.balance import count_seen
from anon_pipeline.publish.verify.public_verdicts import evaluate_in_part
from anon_pipeline.publish.verify.verify import Against, verify_in_detail, verify_release
from anon_pipeline.publish.verify.versions import Rules
from anon_pipeline.publish.version_1 import version_1
from anon_pipeline.stages.facts import agreement, check, check_1
from anon_pipeline.stages.facts.agreement import said_of
from tests.drawn_points import drawing

__all__ = [
    "FEW",
    "FORMS",
    "KINDS",
    "OTHERS",
    "Missed",
    "Mutation",
    "caught",
    "leaves",
    "missed",
    "mutations",
    "once_judged",
]

Steps = tuple[str | int, ...]

FORMS = ("removed", "null", "type", "text", "nan", "infinite", "added", "repeated", "reversed")
"""Kinds of mutations that no manifest can have; the kind ``value`` puts another plausible value."""
KINDS = ("value", *FORMS)
FEW = ("value", "removed", "added", "text")
"""Kinds whose mutations tests try, each one: all of them take their time."""
OTHERS = 0.3
"""Share of the mutations of the other kinds that is drawn, where tests try some."""

_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True, eq=False)
class Mutation:
    """One change of a manifest.

    steps: keys and places that lead to what was changed.
    kind: ``value`` or one of `FORMS`.
    document: the manifest with it.
    """

    steps: Steps
    kind: str
    document: dict[str, Any]

    @property
    def path(self) -> str:
        """The steps as one text."""
        return ".".join(map(str, self.steps))


def leaves(value: Any, at: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Yield each leaf of a document and where it is; an empty mapping or list is a leaf."""
    if isinstance(value, (dict, list)) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for step, below in items:
            yield from leaves(below, (*at, step))
    else:
        yield at, value


def mutations(document: dict[str, Any]) -> Iterator[Mutation]:
    """Yield every mutation of a manifest.

    Args:
        document: as it was written.
    """
    for steps, value in leaves(document):
        for kind, changed in _changed(value):
            yield Mutation(steps, kind, _with(document, steps, changed))
        yield Mutation(steps, "removed", _without(document, steps))
    for steps, inner in _inner(document):
        if isinstance(inner, dict):
            yield Mutation(steps, "added", _with(document, steps, {**inner, "CANARY": 1}))
            yield Mutation(steps, "null", _with(document, steps, None))
        else:
            yield Mutation(steps, "repeated", _with(document, steps, [*inner, *inner[-1:], "CANARY"][:-1]))
            yield Mutation(steps, "added", _with(document, steps, [*inner, "CANARY"]))
            if inner != inner[::-1]:
                yield Mutation(steps, "reversed", _with(document, steps, inner[::-1]))
        if steps:
            yield Mutation(steps, "removed", _without(document, steps))


def _inner(value: Any, at: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Yield each mapping and each list of a document that is not empty, or is one whose items may grow."""
    if isinstance(value, (dict, list)):
        if value:
            yield at, value
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for step, below in items:
            yield from _inner(below, (*at, step))


def _changed(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield other values for a leaf, and what they are."""
    for other in _plausible(value):
        yield "value", other
    if value is not None:
        yield "null", None
    if not isinstance(value, str):
        yield "type", [value]
        yield "text", "CANARY: Jane Doe, 12 High Street"
    if isinstance(value, bool):
        yield "type", int(value)
    elif isinstance(value, (int, float)):
        yield "type", str(value)
        yield "type", True
        yield "nan", math.nan
        yield "infinite", math.inf
        yield "infinite", 10**400
        yield "type", -1 - value
    elif isinstance(value, str):
        yield "type", 7
        yield "type", [value]


def _plausible(value: Any) -> Iterator[Any]:
    """Yield values that could stand in a leaf's place."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        if value > 0:
            yield value - 1
    elif isinstance(value, float):
        yield value / 2 if value else 0.25
        yield min(value * 1.01, 1.0) if 0 < value < 1 else value + 1
    elif isinstance(value, str):
        hexadecimal = len(value) in {16, 32, 64} and set(value) <= _HEX
        yield ("1" if value[0] == "0" else "0") + value[1:] if hexadecimal else value + "x"
        if not hexadecimal and any(c.isdigit() for c in value):
            at = next(i for i, c in reversed(list(enumerate(value))) if c.isdigit())
            yield value[:at] + str((int(value[at]) + 1) % 10) + value[at + 1 :]
    elif value is None:
        yield from (1, 0.5, "x", "2026-01-05")


def _with(document: dict[str, Any], steps: Steps, value: Any) -> Any:
    if not steps:
        return value
    changed, inner = _copied(document, steps)
    inner[steps[-1]] = value
    return changed


def _without(document: dict[str, Any], steps: Steps) -> dict[str, Any]:
    changed, inner = _copied(document, steps)
    del inner[steps[-1]]
    return changed


def _copied(document: dict[str, Any], steps: Steps) -> tuple[dict[str, Any], Any]:
    """Return a copy of a document, and what is changed in it; what lies beside the steps is not copied."""
    changed = copy.copy(document)
    inner: Any = changed
    for step in steps[:-1]:
        inner[step] = copy.copy(inner[step])
        inner = inner[step]
    return changed, inner


@contextmanager
def once_judged() -> Iterator[None]:
    """Let each table be read, digested and judged once, and what follows from the policy alone be made once.

    Both are asked for thousands of times of the same table and the same policy, which nothing changes.
    """
    kept: dict[Any, Any] = {}

    def once(work: Callable[..., Any], key: Callable[..., Any]) -> Callable[..., Any]:
        def remembered(*given: Any, **more: Any) -> Any:
            at = (work, key(*given, **more))
            if at not in kept:
                kept[at] = (given, work(*given, **more))  # what was given stays, so that its id does
            return kept[at][1]

        return remembered

    def read(read: Read, held: Held, policy: Policy | None) -> list[pd.DataFrame]:
        return list(readings(read, held, policy))

    def types_of(read: Read) -> str:
        return json.dumps(read.types)

    def sections(policy: Policy | None) -> Any:
        """Name a policy by its sections: `verify` copies it, with other limits on reading its source."""
        return None if policy is None else tuple(id(value) for name, value in policy if name != "source")

    def of_table(read: Read, held: Held, policy: Policy | None) -> Any:
        return held.data, json.dumps(read.types), sections(policy)

    def of_frame(frame: pd.DataFrame, policy: Policy, **_: Any) -> Any:
        return id(frame), sections(policy)

    def of_bytes(data: bytes, form: str, *, like: Any, formulas: str = "keep") -> Any:
        return data, form, str(like), formulas

    def of_levels(frame: pd.DataFrame, policy: Policy, levels: Any, *, cells: Any, hierarchies: Path) -> Any:
        return id(frame), sections(policy), json.dumps([levels, cells]), hierarchies

    def of_document(document: Any, policy: Policy) -> Any:
        return json.dumps(document), sections(policy)

    def of_actions(policy: Policy, actions: Any) -> Any:
        return sections(policy), json.dumps(actions)

    def of_policy(rules: Rules) -> Rules:
        told: dict[str, Any] = {
            name: once(getattr(rules, name), sections) for name in ("digest", "guarantee", "limits")
        }
        return replace(rules, **told)

    with ExitStack() as stack:
        for rules in ("RULES_1", "RULES_2"):
            stack.enter_context(patch.object(verify, rules, of_policy(getattr(verify, rules))))
        for module, name, work, key in (
            (verify, "evaluate", evaluate, of_frame),
            (verify, "evaluate_in_part", evaluate_in_part, of_frame),
            (verify, "read_release", read_release, lambda held, policy: (held.data, sections(policy))),
            (policy_file, "public_policy", public_policy, json.dumps),
            (policy_file, "differs", differs, of_document),
            (extensions, "plugins_of", plugins_of, sections),
            (verify, "digest_frame", digest_frame, id),
            (verify, "readings", read, of_table),
            (verify_files, "digest_frame", digest_frame, id),
            (verify_files, "readings", read, of_table),
            (verify_files, "from_bytes", from_bytes, of_bytes),
            (version_1, "making_1", making_1, sections),
            (verify_files, "column_types", column_types, id),
            (manifest_facts, "demands", lambda policy: tuple(demands(policy)), sections),
            (agreement, "noises", noises, sections),
            (agreement, "category_facts", category_facts, sections),
            (check, "said_of", said_of, of_actions),
            (check_1, "said_of", said_of, of_actions),
            (manifest_facts, "count_seen", count_seen, of_frame),
            (manifest_facts, "broken_levels", broken_levels, of_levels),
        ):
            stack.enter_context(patch.object(module, name, once(work, key)))
        yield


def caught(folder: Path, against: Against, document: object) -> bool | None:
    """Tell whether `verify` refuses a release with another manifest; None if the manifest breaks it.

    Args:
        folder: a copy of the release; its manifest is replaced.
        against: policy and key.
        document: the changed manifest.
    """
    (folder / MANIFEST).unlink()  # to write a file anew is ten times faster than to empty it: ext4 syncs then
    (folder / MANIFEST).write_text(json.dumps(document), encoding="utf-8")
    try:
        return bool(verify_release(folder, against).with_status(Status.REFUSED))
    except AnonPipelineError:
        return True
    except Exception:
        return None


@dataclass(frozen=True, slots=True)
class Missed:
    """What `verify` did not refuse.

    leaves: of the manifest.
    unnoticed: paths of what can be changed unnoticed, with the kinds of mutations that are.
    listed: paths that `verify` names as not verifiable, or as only adding up.
    crashed: mutations that broke the program.
    """

    leaves: int
    unnoticed: dict[str, set[str]]
    listed: frozenset[str]
    crashed: int


def missed(release: Path, against: Against, kinds: Collection[str] = KINDS, *, others: float = 0.0) -> Missed:
    """Try every mutation of a release's manifest.

    Args:
        release: its folder; nothing is changed there.
        against: policy and key.
        kinds: of the mutations that are tried, each one.
        others: share of the mutations of other kinds that are tried, too; they are drawn.
    """
    random = drawing() if others else Random(0)
    document = json.loads((release / MANIFEST).read_text(encoding="utf-8"))
    unnoticed: dict[str, set[str]] = {}
    crashed = 0
    with tempfile.TemporaryDirectory() as place, once_judged():
        copied = Path(shutil.copytree(release, Path(place) / "release"))
        listed = frozenset(leaf.path for leaf in verify_in_detail(copied, against).unverified)
        for mutation in mutations(document):
            if mutation.kind not in kinds and random.random() >= others:
                continue
            found = caught(copied, against, mutation.document)
            crashed += found is None
            if not found:
                unnoticed.setdefault(mutation.path, set()).add(mutation.kind)
    return Missed(len(list(leaves(document))), unnoticed, listed, crashed)


def main(arguments: Sequence[str] | None = None) -> None:
    """Count what `verify` does not notice in the manifest of a release."""
    parser = argparse.ArgumentParser(prog="python -m tests.adversarial.mutations", description=main.__doc__)
    parser.add_argument("release", type=Path, help="folder of a release")
    parser.add_argument("--policy", type=Path, help="the policy that made it")
    parser.add_argument("--hierarchies", type=Path, default=Path(), help="folder of the hierarchy tables")
    given = parser.parse_args(arguments)
    policy = None if given.policy is None else load_policy(given.policy, retired=True)
    found = missed(given.release, Against(policy, given.hierarchies))
    secret = found.unnoticed.keys() - found.listed
    print(
        f"{found.leaves} leaves; can be changed unnoticed: {len(found.unnoticed)}, of them named as not "
        f"verifiable: {len(found.unnoticed) - len(secret)}; crashes: {found.crashed}"
    )
    for path in sorted(found.unnoticed):
        print("not named" if path in secret else "named", path, *sorted(found.unnoticed[path]))
    for path in sorted(found.listed - found.unnoticed.keys()):
        print("named, yet noticed:", path)


if __name__ == "__main__":
    main()
