"""Expectations about attacks: what an attacker of each kind may get right on a release."""

from __future__ import annotations

from typing import Any, Literal

from great_expectations.compatibility import pydantic

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.gate.great_expectations.attack_arguments import attack_limit
from anon_pipeline.gate.great_expectations.base import Names, ReleaseExpectation, Share, verdict
from anon_pipeline.limits.verdicts import Status

_KNOWN = ("quasi_identifiers", "columns", "perturb", "attacks", "attack", "stages", "hierarchies")


class ExpectReleaseToWithstandAttack(ReleaseExpectation):
    """Expect an attack on the release to stay within its limit, on a batch as `gate_batch` makes it.

    Args:
        attack: name of one of the limits, such as ``assignment_risk`` or ``linkage.exact``; or
            ``linking_risk``, with that limit in ``stages``.
        attacks: limits, as under ``gate.attacks`` of a policy.
        quasi_identifiers: generalized columns.
        columns: perturb and sensitive columns, as in a policy.
        perturb: the noise, as in a policy; None without perturb columns.
        stages: what the release is made with beside noise: ``k``, ``confidence``, and as ``gate`` the keys
            ``linking``, ``linking_risk``, ``t_closeness``, ``l_diversity`` of a policy. None: not known, and
            what the batch's own noise realized is judged.
        hierarchies: folder that a hierarchy's table is relative to.
        released: boolean column that marks the released records; None if all are.
    Returns:
        ``observed_value``: what the attack gets right; of limits on linking on average over the noise where
        ``stages`` are given, unless they say ``linking: realized``.
    Source:
        `risk` names the source of each attack.
    """

    attack: str = pydantic.Field(description="Name of the limit.")
    attacks: dict[str, Any] = pydantic.Field(description="Limits, as under gate.attacks of a policy.")
    quasi_identifiers: Names = pydantic.Field(description="Generalized columns.")
    columns: dict[str, Any] = pydantic.Field(description="Perturb and sensitive columns, as in a policy.")
    perturb: dict[str, Any] | None = pydantic.Field(default=None, description="As in a policy.")
    stages: dict[str, Any] | None = pydantic.Field(
        default=None, description="k, confidence, and limits of the gate that classes must keep."
    )
    hierarchies: str = pydantic.Field(default=".", description="Folder of hierarchy tables.")

    sentence = "The attack $attack must stay within its limit in $attacks."
    metric_dependencies = ("release.attack",)
    success_keys = (*_KNOWN, "released")
    args_keys = success_keys

    @pydantic.root_validator(skip_on_failure=True)
    def _named(cls, values: dict[str, Any]) -> dict[str, Any]:
        try:
            attack_limit(values)
        except (InputError, PolicyError) as error:
            raise ValueError(str(error)) from None
        return values

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        limit = attack_limit({name: getattr(self, name) for name in _KNOWN})
        judged = limit.compared(metrics["release.attack"])
        value = metrics["release.attack"] if judged.value is None else judged.value
        return verdict(value, judged.status is Status.PASSED)


class ExpectReleaseToHideInPopulation(ReleaseExpectation):
    """Expect an attacker who knows the population to name few persons behind the released records.

    Args:
        quasi_identifiers: generalized columns.
        population_column: persons of the population whom the record's class may be about, a whole number.
        risk: ``journalist_risk``: the largest chance of naming the person behind a record;
            ``marketer_risk``: the share that is named rightly on average.
        limit: of that chance or share, in [0, 1].
        released: boolean column that marks the released records; None if all are.
    Returns:
        ``observed_value``: the chance or the share.
    Source:
        El Emam (2013); Dankar and El Emam (2010).
    """

    quasi_identifiers: Names = pydantic.Field(description="Generalized columns.")
    population_column: str = pydantic.Field(description="Persons whom the record's class may be about.")
    risk: Literal["journalist_risk", "marketer_risk"] = pydantic.Field(description="What is limited.")
    limit: Share = pydantic.Field(description="Largest chance or share.")

    sentence = "Who knows the population must name persons with a $risk of at most $limit."
    metric_dependencies = ("release.population",)
    success_keys = ("quasi_identifiers", "population_column", "risk", "limit", "released")
    args_keys = success_keys

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        value = metrics["release.population"]
        return verdict(value, value <= self.limit)
