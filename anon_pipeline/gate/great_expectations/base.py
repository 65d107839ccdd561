"""What all expectations of a release share: the metric, the verdict, the result, the rendering."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any, ClassVar

from great_expectations.compatibility.pydantic import Field, root_validator
from great_expectations.core.id_dict import IDDict
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
from anon_pipeline.gate.great_expectations.arguments import demand_of, renew
from anon_pipeline.gate.great_expectations.cases import BatchCase, Layout, case_from
from anon_pipeline.gate.great_expectations.failures import without_values
from anon_pipeline.limits.meanings import meaning_of
from anon_pipeline.limits.verdicts import Status, Verdict

METRIC = "release.case"
_Dict = dict[str, Any]  # in the class, `dict` is a method
_Texts = dict[str, str]
_SENTENCE = "$limit: $meaning"


def needed_field(description: str) -> Any:
    """Declare an argument that must be given where no policy is."""
    return Field(default=None, description=description, needed=True)


class ReleaseCase(TableMetricProvider):
    """A batch as the gate judges it; computed once for all expectations of a suite on one policy."""

    metric_name = METRIC
    value_keys = ("layout", "released")

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> BatchCase:
        def read_case() -> BatchCase:
            """Return the batch as the case that limits are judged on."""
            frame, _, _ = given["execution_engine"].get_compute_domain(
                domain_kwargs=given["metric_domain_kwargs"], domain_type=MetricDomainTypes.TABLE
            )
            return case_from(frame, Layout(**json.loads(given["metric_value_kwargs"]["layout"])))

        return without_values(METRIC, read_case)


class ReleaseExpectation(BatchExpectation):
    """An expectation about a whole release on a pandas batch; its result holds one number, never a value.

    It is given a policy and the name of one of its limits, for a batch that `gate_batch` makes; some take
    arguments instead, for any table. A batch may hold suppressed records too: then ``released`` names the
    boolean column that marks the others.
    """

    released: str | None = Field(
        None, description="Boolean column that is true for released records; default: all are."
    )
    policy: _Dict | None = Field(None, description="Document of a policy, see `suite_for`.")
    limit_name: str | None = Field(None, description="Name of the limit in the policy, as verdicts have it.")
    hierarchies: str = Field(".", description="Folder of hierarchy tables.")

    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id",)
    metric_dependencies: ClassVar[tuple[str, ...]] = (METRIC,)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = (name for name in cls.__fields__ if name not in BatchExpectation.__fields__)
        cls.success_keys = cls.args_keys = tuple(own)

    @classmethod
    def is_abstract(cls) -> bool:
        """Tell Great Expectations which classes are expectations and which only hold arguments."""
        return not cls.__name__.lower().startswith("expect")

    @classmethod
    def _needed_names(cls) -> list[str]:
        """Name the arguments that must be given where no policy is."""
        return [name for name, field in cls.__fields__.items() if field.field_info.extra.get("needed")]

    @root_validator(pre=True)
    def _renew(cls, given: _Dict) -> _Dict:
        """Read the arguments of a suite that was stored by an earlier version."""
        unknown = [name for name in given if name not in cls.__fields__]
        return renew(given, cls.expectation_type, unknown) if unknown and not cls._needed_names() else given

    @root_validator(skip_on_failure=True)
    def _complete(cls, given: _Dict) -> _Dict:
        """Refuse arguments that make no limit, by the rules of a policy."""
        wanted = cls._needed_names()
        if given["policy"] is None:
            lacking = [name for name in wanted or ("policy", "limit_name") if given[name] is None]
            if lacking:
                raise ValueError(f"{', '.join(lacking)}: must be given, got neither them nor a policy")
        elif more := [name for name in wanted if given[name] is not None and name != "released"]:
            raise ValueError(f"{', '.join(more)}: must be left out if a policy is given, which has them")
        try:
            demand_of(given, cls.expectation_type)
        except (InputError, PolicyError) as error:
            raise ValueError(str(error)) from None
        return given

    def dict(self, **options: Any) -> _Dict:
        """Return the arguments; Great Expectations asks fifty times, and a policy is large."""
        if self.policy is None or options.get("include") or options.get("exclude"):
            own: _Dict = super().dict(**options)
            return own
        found = super().dict(**options, exclude={"policy"}) | {"policy": json.loads(json.dumps(self.policy))}
        return {name: found[name] for name in self.__fields__ if name in found}

    def get_validation_dependencies(self, *args: Any, **kwargs: Any) -> Any:
        """Ask for the case of the batch, by nothing but the layout: so a suite on one policy shares it.

        `BatchExpectation` would make the whole expectation anew to name the batch.
        """
        found = super(BatchExpectation, self).get_validation_dependencies(*args, **kwargs)
        layout, _ = demand_of(self._arguments(), self.expectation_type)
        domain = IDDict({key: getattr(self, key, None) for key in ReleaseCase.domain_keys})
        value = {"layout": json.dumps(asdict(layout)), "released": layout.released}
        found.set_metric_configuration(METRIC, MetricConfiguration(METRIC, domain, value))
        return found

    def _arguments(self) -> _Dict:
        return {name: getattr(self, name) for name in self.success_keys}

    def _validate(self, metrics: _Dict, *_: Any, **__: Any) -> _Dict:
        judged: Verdict = without_values(METRIC, lambda: self._judge(metrics[METRIC]))
        value = judged.value
        shown = None if value is None or not math.isfinite(value) else value
        return {"success": judged.status.publishable, "result": {"observed_value": shown}}

    def _judge(self, case: BatchCase) -> Verdict:
        _, demand = demand_of(self._arguments(), self.expectation_type)
        judged = demand.verdict(case)
        if judged.status is Status.UNMEASURED:
            raise InputError(f"{judged.limit} {judged.reason}")
        return judged

    @classmethod
    def _text_parameters(cls, kwargs: _Dict) -> _Texts:
        """Return the parameters of a sentence for people: the limit, what it means, its bound."""
        given = {name: kwargs.get(name, cls.__fields__[name].default) for name in cls.success_keys}
        _, demand = demand_of(given, cls.expectation_type)
        told = [] if demand.bound is None else [f"{demand.sense} {demand.bound:g}"]
        for name in cls._needed_names() if given["policy"] is None else ():
            told.append(f"{name}: {given[name]}".translate(dict.fromkeys(map(ord, "[]'"))))
        meaning = meaning_of(demand.limit, demand.of)
        return {"limit": demand.name, "meaning": f"{meaning} ({'; '.join(told)})" if told else meaning}

    @classmethod
    def _prescriptive_template(cls, renderer_configuration: RendererConfiguration) -> RendererConfiguration:
        for name, value in cls._text_parameters(renderer_configuration.kwargs).items():
            renderer_configuration.add_param(name=name, param_type=RendererValueType.STRING, value=value)
        renderer_configuration.template_str = _SENTENCE
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
        styling = (runtime_configuration or {}).get("styling")
        said = {"template": _SENTENCE, "params": cls._text_parameters(shown.kwargs), "styling": styling}
        return [RenderedStringTemplateContent(content_block_type="string_template", string_template=said)]
