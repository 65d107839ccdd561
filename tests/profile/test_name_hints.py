"""Names of columns in several languages and spellings, and what they lead to."""

from __future__ import annotations

import pytest

from anon_pipeline.profile.name_hints import HINTS, find_hint, hint_rank, name_words


@pytest.mark.parametrize(
    ("names", "leads"),
    [
        (
            "First Name|Nachname|nom|apellido|full_name|patientName|E-Mail|emailAddress|Telefon|Mobile",
            "identifier",
        ),
        (
            "Strasse|street_address|IBAN|Kontonummer|SSN|AHV-Nr|Passport No|client_ip|URL|latitude",
            "identifier",
        ),
        ("id|patient_id|Kunden-Nr|Claim ID|uuid|policy_number|Unnamed: 0", "number of one's own"),
        ("notes|Bemerkung|Kommentar|free text|description", "free text"),
        (
            "ZIP|postcode|PLZ|age|Alter|sex|Geschlecht|Wohnort|nationality|Zivilstand|Job Title|Abteilung",
            "quasi",
        ),
        ("date_of_birth|Geburtsdatum|admission date|HireDate|year of birth", "quasi"),
        ("height_cm|Gewicht|BMI", "measure"),
        (
            "Diagnosis|salary|Lohn|Saldo|claim_amount|HbA1c|religion|exam score|Performance Rating",
            "sensitive",
        ),
    ],
)
def test_names_lead_to_roles(names: str, leads: str) -> None:
    found = {name: hint.leads if (hint := find_hint(name)) else None for name in names.split("|")}
    assert found == dict.fromkeys(found, leads)


@pytest.mark.parametrize("name", ["q7", "f01", "x", "var_3", "", "…"])
def test_names_that_say_nothing(name: str) -> None:
    assert find_hint(name) is None
    assert hint_rank(name) == len(HINTS)


def test_words_of_a_name() -> None:
    assert name_words("Größe_inCm2 [m²]") == ["groesse", "in", "cm2", "m2"]
    assert hint_rank("zip") < hint_rank("hire_date")
