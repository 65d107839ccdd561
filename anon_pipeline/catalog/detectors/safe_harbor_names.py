"""What the name of a column says of HIPAA's Safe Harbor: identifier, place, ZIP code, age, date.

Source: 45 CFR 164.514(b)(2)(i): eighteen kinds of identifiers. Words are looked for as in `telling_names`.
"""

from __future__ import annotations

from typing import Literal

from anon_pipeline.catalog.detectors.identifying_names import (
    ASIDE,
    Words,
    birth_part,
    has_phrase,
    name_words,
    phrases_of,
    telling_name,
)

Holds = Literal["ages", "zips", "days", "birth years", "places", "identifiers"]
"""What a column holds, of what Safe Harbor has a rule for."""

_AGES = phrases_of("age, ages, alter, lebensalter, edad, eta")
_ZIPS = phrases_of(
    "zip, zips, zipcode, zip code, zcta, postal code, postalcode, postcode, post code, plz, postleitzahl, "
    "code postal, codigo postal, codice postale"
)
_DATES = phrases_of(
    "date, dates, datetime, timestamp, datum, fecha, month, weekday, day of week, monat, wochentag, mois, "
    "mese, mes"
)
_PLACES = phrases_of(
    "city, town, hometown, county, district, municipality, village, neighborhood, neighbourhood, borough, "
    "parish, precinct, suburb, tract, geocode, fips, birthplace, place of birth, residence, stadt, ort, "
    "wohnort, geburtsort, gemeinde, bezirk, landkreis, kreis, ville, commune, departement, citta, comune, "
    "provincia, ciudad, municipio, barrio"
)
_IDENTIFIERS = {
    "telephone or fax numbers": "cell, cell phone, pager, faxnumber, fax number",
    "medical record numbers": "medical record, medicalrecord, record number, chart number, mrn",
    "numbers of a health plan": "health plan id, health plan number, beneficiary, member id, "
    "subscriber id, subscriber number, policy number, insurance id, medicare id, medicare number, "
    "medicaid id, medicaid number",
    "account numbers": "acct, account id, accountid",
    "numbers of certificates or licenses": "certificate, certificate number, license, licence, "
    "dea number, npi",
    "identifiers of vehicles": "vin, vehicle id, vehicle number, registration number",
    "identifiers of devices": "imei, mac, mac address, serial, serialnumber, device id, "
    "deviceid, device number, udi, implant id",
    "web addresses": "url, urls, uri, website, web site, homepage, web page, webpage",
    "IP addresses": "ip, ip address, ipaddress, ipv",
    "biometric identifiers": "biometric, biometrics, fingerprint, fingerprints, voiceprint, "
    "voice print, retina, faceprint",
    "photographs": "photo, photos, photograph, picture, portrait, headshot, face image",
}
_OF_IDENTIFIERS = {said: phrases_of(text) for said, text in _IDENTIFIERS.items()}
_ASIDE = {*ASIDE} - {"plan"}  # of a health plan
_RATES = {"per", "pro", "par", "each"}
"""Words that say that a column is a rate: ``visits_per_month``."""

_PARTS_OF_YEAR = {
    "month": 12,
    "months": 12,
    "monate": 12,
    "mois": 12,
    "mesi": 12,
    "meses": 12,
    "weeks": 52.18,
    "wochen": 52.18,
    "days": 365.25,
    "tage": 365.25,
}
_YEARS = {"y", "yr", "yrs", "year", "years", "jahre", "ans", "anni", "anos"}


def held_by_name(name: str) -> tuple[Holds, str] | None:
    """Return what a column of this name holds of what Safe Harbor has a rule for, and what to call that.

    >>> held_by_name("age_at_visit"), held_by_name("home_zip"), held_by_name("admission_date")
    (('ages', 'ages'), ('zips', 'ZIP codes'), ('days', 'calendar dates'))
    >>> held_by_name("county"), held_by_name("device_serial"), held_by_name("city_type")
    (('places', 'places'), ('identifiers', 'identifiers of devices'), None)
    """
    words = name_words(name)
    said = telling_name(name)
    if has_phrase(words, _ZIPS):
        return "zips", "ZIP codes"
    if said == "dates of birth" or birth_part(name) is not None:
        return "birth years", "dates of birth"
    if has_phrase(words, _AGES):
        return "ages", "ages"
    return _otherwise(words) if said is None else ("identifiers", said)


def _otherwise(words: Words) -> tuple[Holds, str] | None:
    if _ASIDE & {*words}:
        return None
    if has_phrase(words, _DATES) and not _RATES & {*words}:
        return "days", "calendar dates"
    found = next((said for said, phrases in _OF_IDENTIFIERS.items() if has_phrase(words, phrases)), None)
    if found is not None:
        return "identifiers", found
    return ("places", "places") if has_phrase(words, _PLACES) else None


def says_age(unit: str | None) -> bool:
    """Tell whether a unit says that a number is an age: years, or years of age.

    >>> says_age("years"), says_age("years of age"), says_age("cm"), says_age(None)
    (True, True, False, False)
    """
    words = name_words(unit or "")
    return bool(words) and (set(words) <= _YEARS or has_phrase(words, _AGES))


def per_year(text: str) -> float:
    """Return how many of the units that a name or a unit names are a year; 1 where it names none.

    >>> per_year("age_months"), per_year("age")
    (12, 1)
    """
    return next((_PARTS_OF_YEAR[word] for word in name_words(text) if word in _PARTS_OF_YEAR), 1)
