"""What all expectations of a release share: the metric, the verdict, the result, the rendering."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any, ClassVar

from great_expectations.compatibility import pydantic
from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine import PandasExecutionEngine
from great_expectations.expectations.expectation import BatchExpectation, render_suite_parameter_string
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider
from great_expectations.render import LegacyRendererType, RenderedStringTemplateContent
from great_expectations.render.renderer.renderer import renderer
from great_expectations.render.renderer_configuration import RendererConfiguration, RendererValueType
from great_expectations.validator.metric_configuration import MetricConfiguration

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.gate.great_expectations.arguments import asked
from anon_pipeline.gate.great_expectations.cases import BatchCase, Layout, case_from, noise_from
from anon_pipeline.gate.great_expectations.failures import without_values
from anon_pipeline.limits.meanings import meaning_of
from anon_pipeline.limits.verdicts import Status, Verdict

METRIC = "release.case"
_Dict = dict[str, Any]  # in the class, `dict` is a method
_Texts = dict[str, str]
_SHARED = ("released", "class_columns")  # may be given beside a policy
_LISTS = ("released_columns", "original_columns", "published_columns", "resolutions", "epsilons", "noises")


def needed(description: str) -> Any:
    """Declare an argument that must be given where no policy is."""
    return pydantic.Field(default=None, description=description, needed=True)


def optional(description: str, default: Any = None) -> Any:
    """Declare an argument that has a default."""
    return pydantic.Field(default=default, description=description)


class ReleaseCase(TableMetricProvider):
    """A batch as the gate judges it; computed once for all expectations of a suite on one policy."""

    metric_name = METRIC
    value_keys = ("layout", "released")

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> BatchCase:
        def read_case() -> BatchCase:
            frame, _, _ = given["execution_engine"].get_compute_domain(
                domain_kwargs=given["metric_domain_kwargs"], domain_type=MetricDomainTypes.TABLE
            )
            return case_from(frame, Layout(**json.loads(given["metric_value_kwargs"]["layout"])))

        return without_values(METRIC, read_case)


class ReleaseExpectation(BatchExpectation):
    """An expectation about a whole release on a pandas batch; its result holds one number, never a value.

    It is given either arguments, for any table, or a policy and the name of one of its limits, for a batch
    that `gate_batch` makes. A batch may hold suppressed records too: then ``released`` names the boolean
    column that marks the others.
    """

    released: str | None = optional("Boolean column that is true for released records; default: all are.")
    policy: _Dict | None = optional("Document of a policy, see `suite_for`, instead of the others.")
    limit_name: str | None = optional("Name of the limit in the policy, as verdicts have it.")
    hierarchies: str = optional("Folder of hierarchy tables.", ".")

    sentence: ClassVar[str] = ""
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id",)
    metric_dependencies: ClassVar[tuple[str, ...]] = (METRIC,)
    library_metadata: ClassVar[_Dict] = {
        "maturity": "beta",
        "tags": ["anonymization", "privacy", "table expectation"],
        "contributors": ["anon-pipeline"],
        "requirements": ["anon-pipeline"],
        "has_full_test_suite": True,
        "manually_reviewed_code": True,
    }
    _library_metadata = library_metadata

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = (name for name in cls.__fields__ if name not in BatchExpectation.__fields__)
        cls.success_keys = cls.args_keys = tuple(own)

    @classmethod
    def is_abstract(cls) -> bool:
        """Tell Great Expectations which classes are expectations and which only hold arguments."""
        return not cls.__name__.lower().startswith("expect")

    @pydantic.root_validator(skip_on_failure=True)
    def _complete(cls, given: _Dict) -> _Dict:
        """Refuse arguments that make no limit, by the rules of a policy."""
        fields = [name for name, field in cls.__fields__.items() if field.field_info.extra.get("needed")]
        if given["policy"] is None:
            lacking = [name for name in fields if given[name] is None]
            if lacking:
                raise ValueError(f"{', '.join(lacking)}: must be given, got neither them nor a policy")
        elif more := [name for name in fields if given[name] is not None and name not in _SHARED]:
            raise ValueError(f"{', '.join(more)}: must be left out beside a policy, which has them")
        lengths = {name: len(given[name]) for name in _LISTS if given.get(name) is not None}
        if len(set(lengths.values())) > 1:
            got = ", ".join(f"{name}: {length}" for name, length in lengths.items())
            raise ValueError(f"lists of perturb columns must be equally long, got {got}")
        try:
            asked(given, cls.expectation_type)
            for noise in given.get("noises") or ():
                noise_from(noise)
        except (InputError, PolicyError) as error:
            raise ValueError(str(error)) from None
        return given

    def dict(self, **options: Any) -> _Dict:
        """Return the arguments; Great Expectations asks fifty times, and a policy is large."""
        if self.policy is None or options.get("include") or options.get("exclude"):
            return super().dict(**options)
        found = super().dict(**options, exclude={"policy"}) | {"policy": json.loads(json.dumps(self.policy))}
        return {name: found[name] for name in self.__fields__ if name in found}

    def get_validation_dependencies(self, *args: Any, **kwargs: Any) -> Any:
        """Ask for the case of the batch, by nothing but the layout: so a suite on one policy shares it."""
        found = super().get_validation_dependencies(*args, **kwargs)
        layout, _ = asked(self._given(), self.expectation_type)
        domain = found.metric_configurations[METRIC].metric_domain_kwargs
        value = {"layout": json.dumps(asdict(layout)), "released": layout.released}
        found.set_metric_configuration(METRIC, MetricConfiguration(METRIC, domain, value))
        return found

    def _given(self) -> _Dict:
        return {name: getattr(self, name) for name in self.success_keys}

    def _validate(self, metrics: _Dict, *_: Any, **__: Any) -> _Dict:
        judged: Verdict = without_values(METRIC, lambda: self._judged(metrics[METRIC]))
        value = judged.value
        shown = None if value is None or not math.isfinite(value) else value
        return {"success": judged.status.publishable, "result": {"observed_value": shown}}

    def _judged(self, case: BatchCase) -> Verdict:
        given = self._given()
        _, demand = asked(given, self.expectation_type)
        judged = case.judged(demand, given)
        if judged.status is Status.UNMEASURED:
            raise InputError(f"{judged.limit} {judged.reason}")
        return judged

    @classmethod
    def _said(cls, kwargs: _Dict) -> tuple[str, _Texts]:
        """Return a sentence for people, and its parameters, defaults included."""
        if kwargs.get("policy") is not None:
            _, demand = asked(dict.fromkeys(cls.success_keys) | kwargs, cls.expectation_type)
            bound = "" if demand.bound is None else f" ({demand.sense} {demand.bound:g})"
            meaning = meaning_of(demand.limit, demand.of) + bound
            return "$limit_name: $meaning", {"limit_name": demand.name, "meaning": meaning}
        given = {name: kwargs.get(name, cls.__fields__[name].default) for name in cls.success_keys}
        return cls.sentence, {
            name: ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
            for name, value in given.items()
            if value is not None
        }

    @classmethod
    def _prescriptive_template(cls, renderer_configuration: RendererConfiguration) -> RendererConfiguration:
        template, params = cls._said(renderer_configuration.kwargs)
        for name, value in params.items():
            renderer_configuration.add_param(name=name, param_type=RendererValueType.STRING, value=value)
        renderer_configuration.template_str = template
        return renderer_configuration

    @classmethod
    @renderer(renderer_type=LegacyRendererType.PRESCRIPTIVE)
    @render_suite_parameter_string
    def _prescriptive_renderer(
        cls,
        configuration: Any = None,
        result: Any = None,
        runtime_configuration: _Dict | None = None,
        **_: Any,
    ) -> list[RenderedStringTemplateContent]:
        shown = RendererConfiguration(
            configuration=configuration, result=result, runtime_configuration=runtime_configuration
        )
        template, params = cls._said(shown.kwargs)
        styling = (runtime_configuration or {}).get("styling")
        said = {"template": template, "params": params, "styling": styling}
        return [RenderedStringTemplateContent(content_block_type="string_template", string_template=said)]
