"""The floor of an organization: the weakest values that its `policy.defaults.yaml` accepts of a policy.

It fills nothing in: what a policy demands is in the policy. It only refuses. Values are compared by the marks
of `policy.protection`, bounds by the sense of their limit.
Decisions: docs/adr/0052-a-change-of-policy-in-words.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.release_kinds import RELEASE_KINDS
from anon_pipeline.limits.changes import LARGER, weaker_than
from anon_pipeline.limits.limit import Demand, Limit
from anon_pipeline.limits.table import LIMITS, demands
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.marks import NEEDS_NOISE, Names, models_in
from anon_pipeline.policy.mistake_words import mistake_at
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.policy_file import read_document
from anon_pipeline.policy.protection import protection_of

TYPE = "anon_pipeline.PolicyDefaults"
_LIMITS, _REQUIRED = "limits", "required"
_OF_NOISE = ("perturb", "budget")  # sections that a policy without noise must leave out


@dataclass(frozen=True, slots=True)
class Floor:
    """What one file accepts.

    name: of the file, for messages.
    fields: key of a policy, in parts, to the weakest value.
    limits: name of a limit, or of one demand of it (``linkage.exact``), to the weakest bound.
    required: keys of a policy that must be set.
    kinds: other kinds of releases that are accepted: by name, the largest ε; of kinds without ε any number.
    """

    name: str
    fields: Mapping[tuple[str, ...], Any]
    limits: Mapping[str, float]
    required: tuple[tuple[str, ...], ...]
    kinds: Mapping[str, float]


def refuse_weaker(policy: Policy, files: Sequence[Path]) -> None:
    """Refuse a policy that is weaker than one of the files accepts.

    Raises:
        PolicyError: every key, with what is accepted, and of files that are wrong themselves every mistake.
    """
    problems = []
    for file in files:
        problems += [one for one in weaker_keys(policy, read_floor(file)) if one not in problems]
    if problems:
        raise PolicyError(problems)


def refuse_weaker_declared(policy: DeclaredRelease, files: Sequence[Path]) -> None:
    """Refuse the policy of a release with declared columns that one of the files does not accept.

    Raises:
        PolicyError: one of them accepts no such release, or not with this ε.
    """
    problems, kind = [], policy.kind
    for file in files:
        accepted = read_floor(file).kinds.get(kind.name)
        epsilon = getattr(policy, "epsilon", None)
        if accepted is None:
            problems.append(
                f"{file.name}: does not accept {kind.words}. Who is responsible for it can set {kind.name}."
            )
        elif epsilon is not None and epsilon > accepted:
            problems.append(f"epsilon: must be at most {accepted:g}, which {file.name} demands")
    if problems:
        raise PolicyError(problems)


def read_floor(file: Path) -> Floor:
    """Read a `policy.defaults.yaml`.

    Raises:
        PolicyError: every mistake in it.
    """
    try:
        document = read_document(file)
    except PolicyError as error:
        problems = [f"{file.name}: {problem}" for problem in error.problems]
    else:
        found, problems = _parse(file.name, document)
        if not problems:
            return found
    raise PolicyError([*problems, f"{file.name}: as long as it is wrong, no policy below it is accepted"])


def weaker_keys(policy: Policy, floor: Floor) -> Iterator[str]:
    """Yield what of a policy is weaker than the floor, a line for each key."""
    for path, weakest in floor.fields.items():
        yield from _weaker_field(policy, path, weakest, floor.name)
    for name, weakest in floor.limits.items():
        yield from _weaker_limit(policy, name, weakest, floor.name)
    for path in floor.required:
        if path[0] in _OF_NOISE and policy.perturb is None:
            continue
        if _at(policy, path) in (None, (), {}):
            yield f"{'.'.join(path)}: must be set, as {floor.name} demands"


def _weaker_field(policy: Policy, path: tuple[str, ...], weakest: Any, name: str) -> Iterator[str]:
    if path[0] in _OF_NOISE and policy.perturb is None:
        return
    here, mark = ".".join(path), protection_of(_field_at(path))
    value = _at(policy, path)
    if value != weakest and (mark is None or not mark.compare(weakest, value).safe):
        got = "nothing" if value is None else value
        yield f"{here}: must protect at least as much as {weakest}, which {name} demands, got {got}"
    elif path[0] == "perturb" and policy.promised_epsilon is None:
        yield f"{here}: {name} demands a guarantee, got noise that guarantees nothing"


def _weaker_limit(policy: Policy, name: str, weakest: float, file: str) -> Iterator[str]:
    kind, of = _kind(name), name.partition(".")[2]
    found = {d.of: d for d in demands(policy) if d.limit is kind and not d.advised and of in ("", d.of)}
    for demand in found.values():
        if weaker_than(demand, weakest) is not False:
            yield (
                f"the limit {demand.name}: must be {kind.judged.sense} {weakest:g} or stricter, which {file} "
                f"demands, got {_got(demand)}"
            )
    for missing in _needed_parts(policy, kind, of):
        if missing not in found:
            full = f"{kind.name}.{missing}" if missing else kind.name
            if missing or not found:
                wanted = f"{kind.judged.sense} {weakest:g} or stricter"
                yield f"the limit {full}: must be set to {wanted}, as {file} demands"


def _got(demand: Demand) -> str:
    return "another kind of it" if demand.bound is None else f"{demand.sense} {demand.bound:g}"


def _needed_parts(policy: Policy, kind: Limit, of: str) -> list[str]:
    """Name what a limit must be demanded of: columns of its role, the part that was named, or the release.

    A limit that needs noise need not be demanded where there is none.
    """
    metadata = _gate_marks(kind.name)
    role = next((mark.role for mark in metadata if isinstance(mark, Names)), None)
    if role is not None:
        columns = [name for name, column in policy.columns.items() if column.role == role]
        return [name for name in columns if of in ("", name)]
    if NEEDS_NOISE in metadata and not policy.perturbed:
        return []
    return [of]


def _gate_marks(name: str) -> Sequence[Any]:
    """Return the marks of the gate's field with the name of a limit, or of the section of attacks."""
    (gate,) = models_in(Policy.model_fields["gate"].annotation)
    for model in (
        gate,
        *(below for one in gate.model_fields.values() for below in models_in(one.annotation)),
    ):
        if name in model.model_fields:
            return model.model_fields[name].metadata
    return ()


def _kind(name: str) -> Limit:
    return next(limit for limit in LIMITS if limit.name == name.partition(".")[0])


def _parse(name: str, document: Any) -> tuple[Floor, list[str]]:
    """Return what a document says, and every mistake in it."""
    if (
        not isinstance(document, dict)
        or document.get("type") != TYPE
        or set(document) != {"type", "attributes"}
    ):
        return Floor(name, {}, {}, (), {}), [f"{name}: must be a mapping with type: {TYPE} and attributes"]
    attributes = document["attributes"]
    if not isinstance(attributes, dict):
        return Floor(name, {}, {}, (), {}), [f"{name}: attributes must be a mapping"]
    problems: list[str] = []
    others = {k: v for k, v in attributes.items() if k not in (_LIMITS, _REQUIRED, *RELEASE_KINDS)}
    fields = dict(_fields(others, problems))
    limits = _bounds(attributes.get(_LIMITS, {}), problems)
    required = _paths(attributes.get(_REQUIRED, []), problems)
    kinds = _accepted_kinds(attributes, problems)
    return Floor(name, fields, limits, required, kinds), [f"{name}: {problem}" for problem in problems]


def _accepted_kinds(attributes: Mapping[Any, Any], problems: list[str]) -> dict[str, float]:
    """Return the kinds of releases that are accepted: true, or a number as the largest ε."""
    found = {}
    for name in RELEASE_KINDS:
        said = attributes.get(name)
        by_epsilon = "epsilon" in import_entry(RELEASE_KINDS[name].policy).model_fields
        number = isinstance(said, (int, float)) and not isinstance(said, bool) and said > 0
        if said is not None and not (number if by_epsilon else said is True):
            wanted = "a number above 0, the largest ε" if by_epsilon else "true"
            problems.append(f"{name}: must be {wanted}")
        elif said is not None:
            found[name] = float(said)
    return found


def _fields(sections: Mapping[Any, Any], problems: list[str]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the weakest value of each key; note those that no weakest value can be given of."""
    for section, keys in sections.items():
        for key, value in keys.items() if isinstance(keys, dict) else [("", None)]:
            path = (str(section), str(key))
            field = _field_at(path)
            mark = None if field is None else protection_of(field)
            if field is None or mark is None or not mark.floor:
                problems.append(f"{'.'.join(filter(None, path))}: {_UNFIT}")
                continue
            try:
                yield path, TypeAdapter(field.rebuild_annotation()).validate_python(value)
            except ValidationError as error:
                problems.append(f"{'.'.join(path)}: {mistake_at(error, path, Policy)}")


_UNFIT = "must be a key of a policy with a number, or an order from weak to strong, in a section"


def _bounds(limits: Any, problems: list[str]) -> dict[str, float]:
    """Return the weakest bound of each limit; note what is no limit with a bound, and what is no number."""
    if not isinstance(limits, dict):
        problems.append("limits: must be a mapping from limits to bounds")
        return {}
    bounded = {limit.name for limit in LIMITS if limit.published.valued and limit.judged.sense in LARGER}
    for name, bound in limits.items():
        if str(name).partition(".")[0] not in bounded:
            problems.append(
                f"limits.{name}: must be a limit with a bound. There are {', '.join(sorted(bounded))}"
            )
        if isinstance(bound, bool) or not isinstance(bound, (int, float)) or not 0 <= bound < math.inf:
            problems.append(f"limits.{name}: must be a number, 0 or more")
    return {str(name): bound for name, bound in limits.items()}


def _paths(required: Any, problems: list[str]) -> tuple[tuple[str, ...], ...]:
    if not isinstance(required, list):
        problems.append("required: must be a list of keys of a policy")
        return ()
    paths = [tuple(str(key).split(".")) for key in required]
    problems += [
        f"required: {'.'.join(path)} is no key of a policy" for path in paths if _field_at(path) is None
    ]
    return tuple(paths)


def _field_at(path: tuple[str, ...]) -> Any:
    """Return the field of a policy that a key names; None if there is none."""
    models: list[type[BaseModel]] = [Policy]
    field = None
    for name in path:
        field = next((model.model_fields[name] for model in models if name in model.model_fields), None)
        if field is None:
            return None
        models = models_in(field.annotation)
    return field


def _at(policy: Policy, path: tuple[str, ...]) -> Any:
    """Return what a policy has at a key; None where a section on the way is not set."""
    found: Any = policy
    for name in path:
        found = getattr(found, name, None)
    return found
