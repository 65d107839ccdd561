"""Texts of a policy with ``{{ … }}``, as Dagster's components have them: the environment, and variables.

Only texts with ``{{`` are rendered: any other stays as it is written, whoever reads the file. What comes out
is the policy that is validated, digested and shown: it is no place for secrets, and their names are refused.

Decision: docs/adr/0072-template-variables-are-dagsters.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from anon_pipeline.base.errors import PolicyError

MARK = "{{"
_NAMED = re.compile(r"\benv\s*(?:\.\s*|\(\s*['\"])([A-Za-z_][A-Za-z0-9_]*)")
_PLAIN = (str, int, float, list, dict, type(None))
_SECRET = re.compile(r"pass|pwd|secret|token|credential|key|sig|sas", re.IGNORECASE)


def render_attributes(attributes: Any, render: Callable[[str], Any]) -> Any:
    """Return attributes with their templates rendered.

    Args:
        attributes: what stands below ``attributes:``.
        render: makes a value of a text with a template.
    Raises:
        PolicyError: every template that cannot be rendered, or names a secret; without a value.
    """
    problems: list[str] = []
    found = _walk(attributes, render, (), problems)
    if problems:
        raise PolicyError(problems)
    return found


def _walk(value: Any, render: Callable[[str], Any], where: tuple[str, ...], problems: list[str]) -> Any:
    if isinstance(value, dict):
        return {key: _walk(inner, render, (*where, str(key)), problems) for key, inner in value.items()}
    if isinstance(value, list):
        return [_walk(inner, render, (*where, str(i)), problems) for i, inner in enumerate(value)]
    if not isinstance(value, str) or MARK not in value:
        return value
    said = ".".join(where)
    secret = [name for name in _NAMED.findall(value) if _SECRET.search(name)]
    if secret:
        problems.append(
            f"{said}: must not hold a secret, got env.{secret[0]}: a policy is shown and published"
        )
        return None
    try:
        return render(value)
    except Exception as error:  # noqa: BLE001 - jinja's and Dagster's, whose text may hold values
        reason = str(error) if isinstance(error, UnsetError) else f"it raised {type(error).__name__}"
        problems.append(f"{said}: must be a template that can be rendered, but {reason}")
        return None


class UnsetError(Exception):
    """A variable that a template names is not set, or not known where there is no Dagster."""


class _Environment:
    """What ``env`` is in a template: ``env.NAME``, ``env('NAME')``, ``env('NAME', 'default')``."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def __call__(self, name: str, *default: Any) -> Any:
        if name in self._environ:
            return self._environ[name]
        if default:
            return default[0]
        raise UnsetError(f"the environment variable {name} is not set")

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "jinja")) or name in {"unsafe_callable", "alters_data"}:  # jinja asks
            raise AttributeError(name)
        return self(name)


def by_environment(environ: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """Return what renders templates where there is no Dagster: with ``env`` alone, in a sandbox.

    Args:
        environ: default: the process's environment.
    """
    from jinja2 import StrictUndefined  # noqa: PLC0415 - a policy without templates does not need it
    from jinja2.nativetypes import NativeEnvironment  # noqa: PLC0415
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415

    class Sandbox(ImmutableSandboxedEnvironment, NativeEnvironment):
        """Renders to values, as Dagster does, and calls nothing but ``env``."""

    shown = _Environment(os.environ if environ is None else environ)
    sandbox = Sandbox(undefined=StrictUndefined)

    def render(text: str) -> Any:
        """Return a template's text with the environment filled in."""
        found = sandbox.from_string(text).render(env=shown)
        if not isinstance(found, _PLAIN):
            raise UnsetError("only env is known here: a variable of a module is rendered by Dagster alone")
        return found

    return render
