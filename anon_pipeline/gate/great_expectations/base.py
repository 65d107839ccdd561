"""What the expectations of a release have in common for Great Expectations: domain, result, rendering."""

from __future__ import annotations

import math
from abc import ABC
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from great_expectations.compatibility import pydantic
from great_expectations.expectations.expectation import BatchExpectation, render_suite_parameter_string
from great_expectations.render import LegacyRendererType, RenderedStringTemplateContent
from great_expectations.render.renderer.renderer import renderer
from great_expectations.render.renderer_configuration import RendererConfiguration, RendererValueType

if TYPE_CHECKING:
    Count = int
    Names = list[str]
    Share = float
    Confidence = float
    Positives = list[float]
else:
    Count = pydantic.conint(strict=True, ge=1)  # strict: 4.7 must not become a limit of 4
    Names = pydantic.conlist(pydantic.constr(strict=True, min_length=1), min_items=1)
    Share = pydantic.confloat(ge=0, le=1)
    Confidence = pydantic.confloat(gt=0, lt=1)
    Positives = pydantic.conlist(pydantic.confloat(gt=0, lt=math.inf), min_items=1)


def verdict(value: float, kept: bool | np.bool_) -> dict[str, Any]:
    """Return what an expectation answers: one number and whether the limit is kept, whatever the format.

    Args:
        value: what was measured; shown as None where it is infinite, which JSON cannot say.
        kept: whether the limit is.
    """
    return {"success": bool(kept), "result": {"observed_value": value if math.isfinite(value) else None}}


class ReleaseExpectation(BatchExpectation, ABC):
    """An expectation about a whole release on a pandas batch; its result holds one number, never a value.

    A batch may hold suppressed records too: then ``released`` names the boolean column that marks the
    others. Without it, all records are released.
    """

    released: str | None = pydantic.Field(
        default=None, description="Boolean column that is true for released records; default: all are."
    )

    sentence: ClassVar[str] = ""
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id",)
    library_metadata: ClassVar[dict[str, Any]] = {
        "maturity": "beta",
        "tags": ["anonymization", "privacy", "table expectation"],
        "contributors": ["anon-pipeline"],
        "requirements": ["anon-pipeline"],
        "has_full_test_suite": True,
        "manually_reviewed_code": True,
    }
    _library_metadata = library_metadata

    @classmethod
    def _params(cls, kwargs: dict[str, Any]) -> dict[str, str]:
        """Return the arguments as texts: defaults, which a configuration leaves out, included."""
        fields = cls.__fields__
        given = {name: kwargs.get(name, fields[name].default) for name in cls.success_keys}
        return {
            name: ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
            for name, value in given.items()
            if value is not None
        }

    @classmethod
    def _prescriptive_template(cls, renderer_configuration: RendererConfiguration) -> RendererConfiguration:
        for name, value in cls._params(renderer_configuration.kwargs).items():
            renderer_configuration.add_param(name=name, param_type=RendererValueType.STRING, value=value)
        renderer_configuration.template_str = cls.sentence
        return renderer_configuration

    @classmethod
    @renderer(renderer_type=LegacyRendererType.PRESCRIPTIVE)
    @render_suite_parameter_string
    def _prescriptive_renderer(
        cls,
        configuration: Any = None,
        result: Any = None,
        runtime_configuration: dict[str, Any] | None = None,
        **_: Any,
    ) -> list[RenderedStringTemplateContent]:
        shown = RendererConfiguration(
            configuration=configuration, result=result, runtime_configuration=runtime_configuration
        )
        template = {
            "template": cls.sentence,
            "params": cls._params(shown.kwargs),
            "styling": (runtime_configuration or {}).get("styling"),
        }
        return [RenderedStringTemplateContent(content_block_type="string_template", string_template=template)]
