"""Names of columns that say identifier, and names like them that do not."""

from __future__ import annotations

import pytest

from anon_pipeline.catalog.detectors.identifying_names import birth_part, telling_name

TELLING = {
    "names of persons": "name first_name LastName patient_name Kundenname Vorname NACHNAME prénom cognome "
    "apellidos surname customerName nom_patient full-name",
    "addresses": "street address home_address Straße Anschrift adresse rue indirizzo calle",
    "telephone numbers": "phone mobile_phone Telefon tel handynummer telefono",
    "e-mail addresses": "email e-mail E_Mail customer_email courriel correo",
    "number plates": "plate license_plate kennzeichen targa",
    "numbers of persons or documents": "ssn passport_no AHV-Nr. ahvNummer codice_fiscale dni national_id",
    "numbers of accounts or cards": "iban bank_account account_no Kontonummer numero_de_cuenta",
    "numbers of persons": "customer_no patientId employee_number Kunden-Nr kundennummer member_no user_id",
    "dates of birth": "dob birth_date DateOfBirth Geburtsdatum date_de_naissance fecha_nacimiento geb_dat "
    "GebDatum date_naiss fec_nac",
    "places on a map": "lat lon latitude Längengrad",
}
OTHERS = (
    "hospital_name product name_of_ward ward_name company_name_short drug_name age sex zip city job employer "
    "diagnosis salary street_type email_provider phone_model account_type account_balance customer_since "
    "user_type note remark visit_date month day year birth_year national relation platelets latency "
    "number_of_children plateau address_known education.num native-country capital-gain"
)


@pytest.mark.parametrize(("said", "names"), TELLING.items())
def test_names_that_say_identifier(said: str, names: str) -> None:
    assert {name: telling_name(name) for name in names.split()} == dict.fromkeys(names.split(), said)


@pytest.mark.parametrize("name", OTHERS.split())
def test_names_that_do_not(name: str) -> None:
    assert telling_name(name) is None


def test_parts_of_a_date_of_birth() -> None:
    found = {name: birth_part(name) for name in ("geburtstag", "mois_de_naissance", "yob", "day_of_visit")}
    assert found == {"geburtstag": "day", "mois_de_naissance": "month", "yob": "year", "day_of_visit": None}


def test_a_name_without_letters_says_nothing() -> None:
    assert telling_name("1") is None
    assert telling_name("№ 1") is None
