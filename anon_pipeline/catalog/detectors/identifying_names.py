"""Names of columns that say identifier: in English, German, French, Italian and Spanish.

A column is refused for such a name, so the words are few and plain; they are looked for as whole words next
to each other. What is about something else than the person, ``email_provider``, is none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

Words = tuple[str, ...]
Part = Literal["day", "month", "year"]


def _words(text: str) -> Words:
    return tuple(text.split())


_TELLING: dict[str, str] = {
    "names of persons": "first name, firstname, given name, givenname, forename, last name, "
    "lastname, surname, family name, familyname, full name, fullname, maiden name, middle name, "
    "vorname, nachname, familienname, vor und nachname, ledigname, prenom, nom de famille, nom et "
    "prenom, cognome, nome e cognome, nombre y apellidos, apellido, apellidos, username, user "
    "name",
    "addresses": "street, address, house number, strasse, anschrift, adresse, postanschrift, "
    "hausnummer, rue, indirizzo, calle, direccion, domicilio, postal address, wohnadresse",
    "telephone numbers": "phone, telephone, mobile, cellphone, phonenumber, fax, tel, telefon, "
    "telefonnummer, handy, handynummer, mobilnummer, natel, telefono, cellulare, movil, portable",
    "e-mail addresses": "email, e mail, mail, mailadresse, emailadresse, emailaddress, courriel, correo",
    "number plates": "plate, license plate, licence plate, number plate, plate number, "
    "numberplate, kennzeichen, autonummer, kontrollschild, targa, matricula, immatriculation, "
    "plaque",
    "numbers of persons or documents": "ssn, social security, passport, passport no, identity "
    "card, ahv, avs, ahvnr, ahv nr, ahvnummer, sozialversicherungsnummer, versichertennummer, "
    "sozialversicherung, steuernummer, steuer id, reisepass, passnummer, ausweisnummer, numero de "
    "securite sociale, securite sociale, passeport, codice fiscale, passaporto, pasaporte, dni, "
    "nif, curp, seguridad social, tax id, national id, nhs number, mrn, medical record number, "
    "driving license, drivers license, insurance number",
    "numbers of accounts or cards": "iban, account, account no, account number, accountnumber, "
    "card number, cardnumber, konto, kontonummer, kontonr, kreditkarte, kreditkartennummer, "
    "compte, numero de compte, conto, numero di conto, cuenta, numero de cuenta",
    "dates of birth": "dob, birthdate, birth date, date of birth, birthday, geburtsdatum, "
    "geburtstag, geb dat, gebdat, geb datum, gebdatum, date de naissance, date naissance, date naiss, "
    "data di nascita, data nascita, fecha de nacimiento, fecha nacimiento, fecha nac, fec nac, birth dt",
    "places on a map": "lat, latitude, lon, lng, longitude, gps, coordinates, koordinaten, "
    "breitengrad, laengengrad, latitudine, longitudine, latitud, longitud",
}
"""What columns hold, and words by which they are named; plain letters."""

_PERSONS = _words(
    "customer client patient employee member person user student subject holder policyholder citizen "
    "resident kunde kunden patienten mitarbeiter personal mitglied mitglieder versicherten schueler "
    "inhaber assure employe membre personne cliente paciente empleado socio persona paziente dipendente"
)
_NUMBERS = _words("no nr num number id nummer numero numer code key")
_NAMES = ("name", "nom", "nome", "nombre")
_JOINED = _words(
    "kundennummer kundennr patientennummer patientennr mitarbeiternummer personalnummer mitgliedsnummer"
)
ASIDE = _words(
    "type kind count class category status domain provider brand model make vendor system known verified "
    "opt consent flag length typ art anzahl klasse anbieter marke sort group gruppe method channel "
    "balance amount minutes usage data total sum age since score rating price cost value saldo betrag "
    "limit limite income revenue bonus days duration dauer fee gebuehr change opened closed rendu size "
    "plan contract tarif"
)
"""Words that say that a column is of something else: ``phone_model``, ``account_type``."""

_PARTS: dict[Part, str] = {
    "day": "birth day, day of birth, birthday, geburtstag, jour de naissance, giorno di nascita, "
    "dia de nacimiento",
    "month": "birth month, month of birth, birthmonth, geburtsmonat, mois de naissance, mese di nascita, "
    "mes de nacimiento",
    "year": "birth year, year of birth, birthyear, yob, geburtsjahr, jahrgang, annee de naissance, "
    "anno di nascita, ano de nacimiento",
}
_SPELLED = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "№": "no", "#": " no "}
)


@lru_cache(maxsize=4096)
def name_words(name: str) -> Words:
    """Return the words of a column's name, in small plain letters.

    >>> name_words("Date of Birth"), name_words("patientNo"), name_words("Straße (Wohnort)")
    (('date', 'of', 'birth'), ('patient', 'no'), ('strasse', 'wohnort'))
    """
    plain = unicodedata.normalize("NFKD", name.translate(_SPELLED)).encode("ascii", "ignore").decode()
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", plain)
    return tuple(word for word in re.split(r"[^a-z]+", parts.lower()) if word)


@lru_cache(maxsize=4096)
def telling_name(name: str) -> str | None:
    """Return what a column holds that has this name, if its name says that it identifies people.

    >>> [telling_name(name) for name in ("Last Name", "patientName", "name", "kunden_nr")]
    ['names of persons', 'names of persons', 'names of persons', 'numbers of persons']
    >>> telling_name("hospital_name"), telling_name("phone_model"), telling_name("street_type")
    (None, None, None)
    """
    words = name_words(name)
    if {*ASIDE} & {*words}:
        return None
    found = next((what for what, phrases in _PHRASES.items() if has_phrase(words, phrases)), None)
    if found is not None or not words:
        return found
    if words in [(one,) for one in _NAMES] or has_phrase(words, _NAMES_OF_PERSONS):
        return "names of persons"
    return "numbers of persons" if has_phrase(words, _NUMBERS_OF_PERSONS) else None


def birth_part(name: str) -> Part | None:
    """Return which part of a date of birth a column holds, by its name.

    >>> birth_part("birth_day"), birth_part("Geburtsjahr"), birth_part("day"), birth_part("birth_date")
    ('day', 'year', None, None)
    """
    words = name_words(name)
    return next((part for part, phrases in _PARTS_OF_BIRTH.items() if has_phrase(words, phrases)), None)


def phrases_of(text: str) -> list[Words]:
    """Return the words of each phrase of a list with commas."""
    return [tuple(phrase.split()) for phrase in text.split(", ")]


def is_vague(name: str) -> bool:
    """Return whether a name that suggests people may also be that of a product or another thing.

    >>> is_vague("name"), is_vague("last_name"), is_vague("userName")
    (True, False, True)
    """
    words = name_words(name)
    return (len(words) == 1 and words[0] in _NAMES) or words in (("user", "name"), ("username",))


def is_number_name(name: str) -> bool:
    """Tell whether a name says only that it is a number, and not of what.

    >>> is_number_name("id"), is_number_name("ID_No"), is_number_name("household_id")
    (True, True, False)
    """
    words = name_words(name)
    return bool(words) and {*words} <= {*_NUMBERS}


def has_phrase(words: Words, phrases: Sequence[Words]) -> bool:
    """Tell whether one of the phrases stands in a name, its words next to each other."""
    return any(
        words[first : first + len(phrase)] == phrase
        for phrase in phrases
        for first in range(len(words) - len(phrase) + 1)
    )


def _pairs(first: Sequence[str], second: Sequence[str]) -> Iterator[Words]:
    """Yield words next to each other in either order."""
    for one in first:
        for other in second:
            yield from ((one, other), (other, one), (one + other,))


_PHRASES = {what: phrases_of(text) for what, text in _TELLING.items()}
_PARTS_OF_BIRTH = {part: phrases_of(text) for part, text in _PARTS.items()}
_NAMES_OF_PERSONS = [*_pairs(_PERSONS, _NAMES)]
_NUMBERS_OF_PERSONS = [*_pairs(_PERSONS, _NUMBERS), *((one,) for one in _JOINED)]
