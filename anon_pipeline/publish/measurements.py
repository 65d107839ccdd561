"""What the gate has measured of a release, with all numbers: a file in the vault, for the curator alone.

It is stored with the private tables, with mode 0600, encrypted if there is a key; of refused releases, too.
Terminal, log and Dagster name the file, not what is in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from anon_pipeline.base.audience import Audience
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.report import Exact
from anon_pipeline.stages.facts.audience import facts_seen_by
from anon_pipeline.stages.facts.check import checked_facts
from anon_pipeline.stages.facts.records import Facts
from anon_pipeline.vault.artifacts import Vault
from anon_pipeline.vault.keys import keys_from
from anon_pipeline.vault.names import measured_name
from anon_pipeline.vault.store import store_at


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The file of one release and partition in a vault.

    opens: opens the vault, with its keys of now.
    """

    policy: Policy
    partition: str | None
    opens: Callable[[], Vault]

    @property
    def name(self) -> str:
        """Its name in the vault: ``<release>/gate[/<partition>].json``."""
        return measured_name(self.policy.name, self.partition)

    @property
    def said(self) -> str:
        """One sentence that says where the numbers are, without any of them."""
        return (
            f"what was measured is in the vault, {self.name}, for the curator: anon-pipeline vault measured "
            f"POLICY --out FILE"
        )

    def keep(self, report: GateReport, facts: Facts) -> None:
        """Write what was measured, in the place of what was measured before.

        Raises:
            InputError: the vault cannot be written.
        """
        document = {
            "release": self.policy.name,
            "partition": self.partition,
            "gate": report.exact_json(),
            "facts": facts_seen_by(facts, Audience.CURATOR),
        }
        data = json.dumps(document, indent=1, ensure_ascii=False, default=str).encode()
        try:
            with self.opens().writing(self.name) as file:
                file.write(data)
            return
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else error_words(error)
        raise InputError(f"the vault must be writable, {self.name} is not: {reason}")

    def keep_refused(self, report: GateReport, facts: Facts) -> str | None:
        """Write what was measured of a refused release; say where it is, or nothing where that failed."""
        with suppress(InputError):
            self.keep(report, facts)
            return self.said
        return None

    def read(self) -> dict[str, Any]:
        """Return what was measured last, as JSON types.

        Raises:
            InputError: it is not there, cannot be opened, or is none.
        """
        data = bytes(self.opens().read(self.name))
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise InputError(f"the vault's {self.name} is not as this version writes it")
        return found

    def exact(self, document: Mapping[str, Any]) -> Exact | None:
        """Return what was measured of the release that a manifest describes; None where that is not there."""
        try:
            found = self.read()
            gate = found["gate"]
            same = all(
                gate[name] == document["gate"][name] for name in ("passed", "data_digest", "policy_digest")
            )
            if not same:
                return None
            verdicts = tuple(Verdict(**{**one, "status": Status(one["status"])}) for one in gate["verdicts"])
            facts = checked_facts(self.policy, found["facts"])
        except (InputError, LookupError, TypeError, ValueError, AttributeError):
            return None
        if not all(verdict.is_readable for verdict in verdicts):
            return None
        return Exact(facts, GateReport(verdicts, gate["data_digest"], gate["policy_digest"]))


def measured_of(
    policy: Policy, locations: Locations, partition: str | None, *, opens: Callable[[], Vault] | None = None
) -> Measured:
    """Return the file of a release in the vault that ``opens`` opens; default: that of the locations."""

    def open_vault() -> Vault:
        return Vault(store_at(locations.vault_place), keys_from())

    return Measured(policy, partition, opens or open_vault)
