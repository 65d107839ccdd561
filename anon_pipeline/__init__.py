"""(k, ε)-anonymity as a gated pipeline: a policy and personal data in, a release that is safe to publish out.

Names are imported when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anon_pipeline.base.errors import AnonPipelineError as AnonPipelineError
    from anon_pipeline.base.errors import GateRefused as GateRefused
    from anon_pipeline.base.errors import InfeasibleError as InfeasibleError
    from anon_pipeline.base.errors import InputError as InputError
    from anon_pipeline.base.errors import PolicyError as PolicyError
    from anon_pipeline.base.errors import PublishError as PublishError
    from anon_pipeline.gate import GateReport as GateReport
    from anon_pipeline.gate import Verdict as Verdict
    from anon_pipeline.gate import evaluate as evaluate
    from anon_pipeline.orchestration.component import AnonymizedRelease as AnonymizedRelease
    from anon_pipeline.orchestration.declared_component import BucketizedRelease as BucketizedRelease
    from anon_pipeline.orchestration.declared_component import EpsilonDpRelease as EpsilonDpRelease
    from anon_pipeline.orchestration.declared_component import SyntheticRelease as SyntheticRelease
    from anon_pipeline.policy import Policy as Policy
    from anon_pipeline.policy import load_policy as load_policy
    from anon_pipeline.policy import parse_policy as parse_policy
    from anon_pipeline.policy.locations import Locations as Locations
    from anon_pipeline.publish.release_in_memory import Release as Release
    from anon_pipeline.publish.whole_chain import anonymize as anonymize
    from anon_pipeline.publish.whole_chain import make_release as make_release
    from anon_pipeline.sources.patients import patients as patients
    from anon_pipeline.stages.history.memory import Memory as Memory
    from anon_pipeline.tuning.grid import Grid as Grid
    from anon_pipeline.tuning.tune import tune as tune

_HOMES = {
    "AnonPipelineError": "base.errors",
    "AnonymizedRelease": "orchestration.component",
    "BucketizedRelease": "orchestration.declared_component",
    "EpsilonDpRelease": "orchestration.declared_component",
    "GateRefused": "base.errors",
    "GateReport": "gate",
    "Grid": "tuning.grid",
    "InfeasibleError": "base.errors",
    "InputError": "base.errors",
    "Locations": "policy.locations",
    "Memory": "stages.history.memory",
    "Policy": "policy",
    "PolicyError": "base.errors",
    "PublishError": "base.errors",
    "Release": "publish.release_in_memory",
    "SyntheticRelease": "orchestration.declared_component",
    "Verdict": "gate",
    "anonymize": "publish.whole_chain",
    "evaluate": "gate",
    "load_policy": "policy",
    "make_release": "publish.whole_chain",
    "parse_policy": "policy",
    "patients": "sources.patients",
    "tune": "tuning.tune",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - the table above is the list


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__name__"]
