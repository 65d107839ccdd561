"""Names of columns in several languages and spellings, and what they lead to."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.catalog.detectors.name_hints import HINTS, find_hint, fits_pattern, hint_rank, name_words


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


LANGUAGES = {
    "sensitive": (
        "Gehalt|Jahresgehalt|Lohn|Bruttolohn|Einkommen|Vergütung|Prämie|Diagnose|Krankheit|Konfession|Bewertung",
        "salaire|Salaire brut|rémunération|revenu|prime annuelle revenu|maladie|diagnostic|religion|loyer",
        "sueldo|Salario|ingresos|remuneración|nómina|diagnóstico|enfermedad|sindicato|deuda",
        "stipendio|Retribuzione lorda|reddito|diagnosi|malattia|affitto|sindacato|punteggio",
    ),
    "quasi": (
        "Eintritt|Eintrittsdatum|Austritt|Geburtstag|Geboren am|Nationalität|Beruf|Pensum|Bundesland",
        "date d'entrée|date d'embauche|date de naissance|genre|nationalité|état civil|métier|ville",
        "fecha de ingreso|fecha de nacimiento|género|nacionalidad|estado civil|profesión|ciudad",
        "data di assunzione|data di nascita|data_nascita|genere|nazionalità|stato civile|professione|città",
    ),
    "identifier": (
        "Vorname|Nachname|Geburtsname|Kundenname|Telefon|Wohnadresse|E-Mail-Adresse",
        "nom|prénom|Nom de famille|téléphone|adresse|courriel|domicile",
        "nombre|apellidos|teléfono|correo electrónico|dirección|domicilio",
        "cognome|nome|nominativo|cellulare|indirizzo|posta elettronica",
    ),
    "measure": ("Größe|Körpergröße|Gewicht", "taille|poids", "estatura|peso", "altezza|peso"),
}


@pytest.mark.parametrize(
    ("names", "leads"), [(names, leads) for leads, lists in LANGUAGES.items() for names in lists]
)
def test_german_french_spanish_and_italian_names_lead_to_roles(names: str, leads: str) -> None:
    found = {name: hint.leads if (hint := find_hint(name)) else None for name in names.split("|")}
    assert found == dict.fromkeys(found, leads)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("Eintritt", "dates"),
        ("fecha de ingreso", "dates"),
        ("ingreso", "money"),
        ("data", None),
        ("data_source", None),
        ("note to the doctor", "names of persons"),
        ("region manager", "names of persons"),
    ],
)
def test_words_of_two_meanings(name: str, meaning: str | None) -> None:
    found = find_hint(name)
    assert (found and found.meaning) == meaning


def test_no_word_stands_twice() -> None:
    words = [word for hint in HINTS for word in hint.words]
    assert sorted({word for word in words if words.count(word) > 1}) == []


@pytest.mark.parametrize("name", ["q7", "f01", "x", "var_3", "", "…"])
def test_names_that_say_nothing(name: str) -> None:
    assert find_hint(name) is None
    assert hint_rank(name) == len(HINTS)


def test_words_of_a_name() -> None:
    assert name_words("Größe_inCm2 [m²]") == ["groesse", "in", "cm2", "m2"]
    assert hint_rank("zip") < hint_rank("hire_date")


@given(st.text("ab_*?[]", max_size=5), st.text("ab_", max_size=5))
def test_patterns_fit_as_those_of_fnmatch_do(pattern: str, text: str) -> None:
    assert fits_pattern(text, pattern) == fnmatchcase(text, pattern)
