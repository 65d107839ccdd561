"""Compiling kernels before they are needed: small releases of generated patients, made and thrown away.

Belongs here: which releases call the kernels that policies need. Does not belong here: any kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

import pandas as pd
import yaml

from anon_pipeline.base.compilation import compilations_told
from anon_pipeline.base.observer import Observer, Progress, Step, ignore
from anon_pipeline.catalog.entries import Fit
from anon_pipeline.catalog.losses import DEFAULT_LOSS, LABELED, LOSSES
from anon_pipeline.catalog.mechanisms import (
    CATEGORY_MECHANISMS,
    DEFAULT_MECHANISM,
    MECHANISMS,
    NOISE_MECHANISMS,
    amount_kind,
    mechanisms_with,
)
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.whole_chain import anonymize
from anon_pipeline.sources.patients import patients
from anon_pipeline.tuning.grid import Grid
from anon_pipeline.tuning.tune import tune

_RECORDS = 400
_CLASSES = {"class": [record // 50 for record in range(_RECORDS)]}
_DEFAULT_RECODER = next(iter(RECODERS))


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A release that calls kernels.

    recoder: of the table. mechanism: of a column with numbers, or of one with categories.
    loss: that the recoder minimizes.
    several: whether two columns carry noise instead of one; other kernels measure them then.
    """

    recoder: str = _DEFAULT_RECODER
    mechanism: str = DEFAULT_MECHANISM
    loss: str = DEFAULT_LOSS
    several: bool = True


def warm_up(policies: Iterable[Policy] = (), *, observe: Observer = ignore) -> int:
    """Compile the kernels that policies need and keep them in numba's cache on disk.

    What else a policy needs, such as `record_key` or a plugin, is compiled when it is first used.

    Args:
        policies: whose recoders and mechanisms are compiled; none: all that this package brings along.
        observe: called with a step for each rehearsal, and with a count of kernels.
    Returns:
        Number of kernels that were compiled; 0 where all were on disk.
    """
    begun = 0

    def tell(count: int) -> None:
        """Note and show how many kernels were compiled so far."""
        nonlocal begun
        begun = count
        observe(Progress("compiling", count))

    frame = small_table()
    with compilations_told(tell):
        for rehearsal in dict.fromkeys(_rehearsals(tuple(policies))):
            observe(Step(f"{rehearsal.recoder}, {rehearsal.mechanism}, {rehearsal.loss}"))
            policy = rehearsal_policy(rehearsal)
            anonymize(policy, frame if policy.anonymize.classes is None else frame.assign(**_CLASSES))
            if rehearsal.recoder == _DEFAULT_RECODER and rehearsal.mechanism in NOISE_MECHANISMS:
                tune(policy, frame, Grid(k=(2,), epsilon=(1.0,)))
    return begun


def small_table() -> pd.DataFrame:
    """Generate the patients of a rehearsal, (400, columns)."""
    return patients(_RECORDS)


def _rehearsals(policies: tuple[Policy, ...]) -> Iterator[Rehearsal]:
    """Yield what calls the kernels of some policies, or of all kinds."""
    if not policies:
        yield from (Rehearsal(recoder=name) for name in RECODERS)
        yield from (Rehearsal(loss=name) for name in LOSSES if name not in LABELED)
        for name in (*MECHANISMS, *CATEGORY_MECHANISMS):
            yield Rehearsal(mechanism=name, several=False)
        return
    for policy in policies:
        recoder, loss = policy.anonymize.recoder, policy.anonymize.loss
        loss = DEFAULT_LOSS if loss in LABELED else loss
        for name in dict.fromkeys(policy.mechanisms.values()) or (DEFAULT_MECHANISM,):
            yield Rehearsal(recoder, name, loss, several=len(policy.perturbed) > 1)
        for column in policy.categorical.values():
            yield Rehearsal(mechanism=column.mechanism, several=False)


def _read_policy() -> dict[str, Any]:
    """Read the policy of rehearsals, and what changes of it."""
    text = (resources.files(__package__) / "warmup_policy.yaml").read_text(encoding="utf-8")
    written: dict[str, Any] = yaml.safe_load(text)
    return written


def rehearsal_policy(rehearsal: Rehearsal) -> Policy:
    """Write the policy of a rehearsal."""
    written = _read_policy()
    attributes, category = written["attributes"], CATEGORY_MECHANISMS.get(rehearsal.mechanism)
    columns = attributes["columns"]
    if RECODERS[rehearsal.recoder].misfit(Fit(generalized=5, numeric=1, ordered_limits=1)):
        columns |= written["one_column"]
    if not rehearsal.several:
        columns |= written["one_noisy"]
    if category is not None:
        kind = "by_distance" if category.by_distance else "by_shares" if category.by_shares else "flat"
        changed: dict[str, dict[str, Any]] = written[kind]
        columns |= {name: {**column, "mechanism": category.name} for name, column in changed.items()}
    attributes["anonymize"] |= {"recoder": rehearsal.recoder, "loss": rehearsal.loss}
    if "levels" in RECODERS[rehearsal.recoder].options:
        attributes["anonymize"]["levels"] = written["levels"]
    if "classes" in RECODERS[rehearsal.recoder].options:
        attributes["anonymize"]["classes"] = next(iter(_CLASSES))
    attributes["perturb"] |= _perturb(rehearsal.mechanism)
    if rehearsal.mechanism in MECHANISMS and rehearsal.mechanism not in NOISE_MECHANISMS:
        amount = written["amounts"].get(amount_kind(rehearsal.mechanism))
        noisy = [name for name, column in columns.items() if column["role"] == "perturb"]
        columns |= {name: {**columns[name], "amount": amount} for name in noisy}
        attributes |= written["whole_columns"]
    return policy_from(attributes)


def _perturb(name: str) -> dict[str, Any]:
    """Write what a mechanism of numbers needs; nothing for one of categories."""
    mechanism = MECHANISMS.get(name)
    if mechanism is None:
        return {}
    delta = {"delta": 1e-6} if mechanism.needs_delta else {}
    unpromised = {} if mechanism.name in mechanisms_with().split(", ") else {"without_guarantee": True}
    return {"mechanism": mechanism.name, **delta, **unpromised}
