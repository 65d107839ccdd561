"""Every number that leaves the stages: what it is computed from, and who sees it.

Facts declare it next to their fields, and limits by what they need. This module declares all other entries
of a manifest and all other places. `all_numbers` is the table of SECURITY.md. An undeclared number is only
for the curator, and a test fails if a manifest or an event shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from anon_pipeline.base.audience import FILE, POLICY, RUN, Audience, Number
from anon_pipeline.limits.table import LIMITS
from anon_pipeline.stages.facts.audience import fact_numbers
from anon_pipeline.stages.facts.records import COUNTED

_BIT = Number(
    ("originals", "noise", "population table", "history"),
    Audience.PUBLIC,
    "one bit: readers must know that the limits are kept, or the release is worthless to them. It rules out "
    "only originals that would exceed the bound",
)
_BANDED = Number(
    ("originals", "noise"),
    Audience.PUBLIC,
    "one of five bands of a mean over all records and all noise: readers, and those who sign, must know how "
    "much an attacker who also knows released values links",
)
_KEPT = "gate.verdicts.*.{}"

MANIFEST: Mapping[str, Number] = {
    "manifest_version": RUN,
    "release": POLICY,
    "partition": RUN,
    "made_at": RUN,
    "files.*.*": FILE,
    "files.*.types.*": FILE,
    "policy_digest": POLICY,
    "data_digest": FILE,
    "gate.passed": _BIT,
    "gate.data_digest": FILE,
    "gate.policy_digest": POLICY,
    **dict.fromkeys((_KEPT.format(name) for name in ("limit", "bound", "sense")), POLICY),
    _KEPT.format("status"): _BIT,
    _KEPT.format("band"): _BANDED,
    _KEPT.format("reason"): POLICY,
    "epsilon": POLICY,
    "guarantee.*": POLICY,
    "allowed": POLICY,
    "allowed.*.*": POLICY,
    "acknowledged": POLICY,
    "acknowledged.*.*": POLICY,
    "acknowledged.*.columns.*": POLICY,
    "packages.*": RUN,
    "plugins.*.*": RUN,
    "plugins.*.kinds.*": RUN,
    "policy.*": POLICY,
    "report.*": FILE,
    "signature.*": RUN,
}
"""The entries of a manifest other than its facts and the values of its limits, by key; ``*``: any."""

_REFUSED = Number(
    ("originals",),
    Audience.OPERATOR,
    "the operator must find and correct them; nothing of that input is published",
)
_SAID = Number(
    tuple(dict.fromkeys(of for limit in LIMITS if not limit.published.valued for of in limit.number.of)),
    Audience.OPERATOR,
    "the operator must know which columns to change. It names columns and what is wrong with them, and "
    "numbers of the limit's bound; of the ledger, that it has another dataset with the same columns or "
    "another release of the dataset, and the sum of ε of the dataset's releases",
)
_SLOW = Number(
    ("originals",),
    Audience.OPERATOR,
    "it reveals no more than the running time, which the operator can observe anyway",
)
_LEDGER = Number(
    ("policy", "history"), Audience.OPERATOR, "the operator must know whether the budget allows another run"
)
_ADVICE = Number(
    ("policy", "originals"),
    Audience.OPERATOR,
    "the operator must know what to change. It is not a number, but one of at most 18 changes of the policy, "
    "or none: the first that is expected to pass. Measured, it reveals at most one bit of a record, and that "
    "only where a change just passes or just fails",
)
_AUDITED = Number(
    ("policy", "released file", "history"),
    Audience.OPERATOR,
    "it is a file of mode 0600 for an auditor, who must add up the ε of the dataset: the public files, "
    "the policy and the ledger's events, no table of the vault; hierarchy tables only if asked for",
)
_ONE_BIT = Number(("originals", "noise", "population table", "history"), Audience.OPERATOR, _BIT.because)

METADATA: Mapping[str, Number] = {
    "status": _ONE_BIT,
    "value": FILE,
    "limit": POLICY,
    "sense": POLICY,
    "reason": _SAID,
    "measured": RUN,
    "data_digest": FILE,
    "policy_digest": POLICY,
    "partition": RUN,
    "gate": _ONE_BIT,
    "gate_passed": _ONE_BIT,
    "refused_by": _ONE_BIT,
    "advice": _ADVICE,
    "file": RUN,
    "data_files": FILE,
    "manifest": RUN,
    "report": RUN,
    "folder": RUN,
    "records": FILE,
    "classes": FILE,
    "guarantee": POLICY,
    "broken_rules": _REFUSED,
    "expectations": POLICY,
    "stored_columns": POLICY,
    **dict.fromkeys(("class_count", "class_size_least", "class_size_mean", "loss/discernibility"), FILE),
    **dict.fromkeys(("level/*", "dagster/row_count", "dagster/column_schema"), FILE),
    **dict.fromkeys(("epsilon/*", "noise", "dagster/column_lineage"), POLICY),
    **dict.fromkeys(("left", "records_released_share"), COUNTED),
}
"""Dagster's metadata other than facts, by key; ``*``: a column. ``value`` and ``gate`` have the
values of limits that can be computed from the released file, for releases that passed."""

ELSEWHERE: Mapping[str, Number] = {
    "policy stored with the release: what the report shows of it, and digests of the whole": POLICY,
    "policy stored with the release: how many values it lists, and how many below each taxonomy name": POLICY,
    "public report: classes by size, columns, correlations, place on the map": FILE,
    "public report: success of attackers: by the class alone, and values or bounds of limits": FILE,
    "public report: success of attackers who know released columns: the band": _BANDED,
    "public report: success of attackers in people; numbers of people and records in the input": COUNTED,
    "`run`: summary of what is left: levels, declared noise, columns with one value": FILE,
    "`run`: summary of what is left: the share of the records that is released": COUNTED,
    "`run`, Dagster's failed checks, Python: advice after a refusal: the first change of ε, k, confidence "
    "that is expected to pass": _ADVICE,
    "`bundle`: release, report, policy, versions, the ledger's events of the dataset": _AUDITED,
    "terminal, log: the stage that is running": RUN,
    "sensor on new files: when a source file was changed": RUN,
    "terminal, log: more than 2ⁿ nodes counted, or records in classes; a bar on a terminal": _SLOW,
    "terminal, log: time that a stage took; size of files in the vault": _SLOW,
    "messages: how many cells and rows of an input break a rule, and why a limit was not measured": _REFUSED,
    "messages: which limit or constraint was not kept, its bound": _ONE_BIT,
    "`run`, `ledger`: ε booked, spent, remaining": _LEDGER,
    "vault: `gate.json` with every value, realized ones too, and all facts": Number(
        ("originals", "noise", "population table", "history")
    ),
    "vault: digest of the population's table, of hierarchy tables": Number(("originals", "population table")),
    "internal report": Number(("originals", "noise")),
    "`run`, `check` with `--show-values` on a terminal; by how much a policy cannot be kept": Number(
        ("originals", "noise")
    ),
    "`init`, `hierarchy`, `profile`, `tune`, `utility`, `rehearse`, `divide`: all that they print and write, "
    "until its author releases by a policy that was chosen so": Number(("originals", "noise")),
    "Python: reports and facts in memory, observed values of Great Expectations": Number(
        ("originals", "noise", "population table", "history")
    ),
}
"""Numbers that are neither in a manifest nor in Dagster's metadata, described in words."""


def limit_numbers() -> Iterator[tuple[str, Number]]:
    """Yield the value of every limit, by its name in a verdict."""
    yield from ((f"value of {limit.name}", limit.number) for limit in LIMITS if limit.published.valued)


def all_numbers() -> Iterator[tuple[str, str, Number]]:
    """Yield every number that is declared: where, what, its declaration."""
    yield from (("manifest", name, number) for name, number in MANIFEST.items())
    yield from (("limits", name, number) for name, number in limit_numbers())
    yield from (("facts", name.removeprefix("facts."), number) for name, number in fact_numbers())
    yield from (("Dagster", name, number) for name, number in METADATA.items())
    yield from (("elsewhere", name, number) for name, number in ELSEWHERE.items())
