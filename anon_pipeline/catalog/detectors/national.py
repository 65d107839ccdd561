"""National identity, social security and tax numbers with a check digit or a distinctive form.

Source: the formats are those of python-stdnum (https://arthurdejong.org/python-stdnum/), which names each
issuer; `chance` is the share of random digits of the shape that pass the check.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module

from anon_pipeline.catalog.detectors.detector import Detector, Form, Unlike
from anon_pipeline.catalog.detectors.lookalikes import are_book_numbers

_NINO = re.compile(r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]")


@cache
def _check(module: str) -> Callable[[str], bool]:
    """Import a check when a column first needs it."""
    found: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    return found


def _passes(module: str, text: str) -> bool:
    return _check(module)(text)


def passes_luhn(digits: str) -> bool:
    """Tell whether the last digit is the Luhn check digit of the others (ISO/IEC 7812)."""
    return _check("luhn")(digits)


def _number(
    name: str, words: str, module: str, shape: str, chance: float, unlike: Unlike | None = None
) -> Detector:
    """Return a detector of numbers that only a column of them shows."""
    form = Form(re.compile(shape), partial(_passes, module), chance=chance, unlike=unlike)
    return Detector(name, words, (form,))


def _alone(name: str, words: str, module: str, shape: str, chance: float, example: str) -> Detector:
    """Return a detector of a number whose form is so particular that one valid match is enough."""
    pattern = re.compile(rf"(?<![A-Za-z0-9.])(?:{shape})(?![A-Za-z0-9])", re.IGNORECASE)
    return Detector(
        name,
        words,
        (Form(pattern, partial(_passes, module), chance, alone=True, needs=rf"(?i){shape}"),),
        (example,),
    )


def _also(detector: Detector, shape: str, chance: float, module: str) -> Detector:
    """Add the form without separators, which a whole cell must have."""
    form = Form(re.compile(shape), partial(_passes, module), chance=chance)
    return Detector(detector.name, detector.words, (*detector.forms, form), detector.examples)


_AHV = r"756[ .-]\d{4}[ .-]\d{4}[ .-]\d{2}"

NATIONAL = (
    _also(
        _alone("ahv", "AHV numbers (Switzerland)", "ch.ssn", _AHV, 1 / 10, "756.9217.0769.85"),
        r"756\d{10}",
        1 / 10,
        "ch.ssn",
    ),
    _number("nhs", "NHS numbers (United Kingdom)", "gb.nhs", r"\d{10}", 1 / 11, are_book_numbers),
    Detector(
        "nino",
        "national insurance numbers (United Kingdom)",
        (Form(re.compile(r"[A-Z]{2}\d{6}[A-Z]"), lambda text: _NINO.fullmatch(text) is not None, 0.1),),
    ),
    _number("nir", "social security numbers (France)", "fr.nir", r"[1-478]\d{4}(?:\d\d|2[AB])\d{8}", 1 / 97),
    _number("dni", "identity numbers (Spain, DNI)", "es.dni", r"\d{8}[A-Z]", 1 / 23),
    _number("nie", "identity numbers (Spain, NIE)", "es.nie", r"[XYZ]\d{7}[A-Z]", 1 / 23),
    _number("aadhaar", "Aadhaar numbers (India)", "in_.aadhaar", r"\d{12}", 1 / 10),
    _number("pan", "tax numbers (India, PAN)", "in_.pan", r"[A-Z]{5}\d{4}[A-Z]", 1 / 10),
    _number("steuer_id", "tax numbers (Germany, IdNr)", "de.idnr", r"\d{11}", 1 / 10),
    _alone(
        "codice_fiscale",
        "tax numbers (Italy, codice fiscale)",
        "it.codicefiscale",
        r"[A-Z]{6}\d\d[A-EHLMPR-T]\d\d[A-Z]\d{3}[A-Z]",
        1 / 26,
        "RCCMNL83S18D969H",
    ),
    _number("bsn", "citizen service numbers (Netherlands)", "nl.bsn", r"\d{9}", 1 / 11),
    _number("rijksregister", "national numbers (Belgium)", "be.nn", r"\d{11}", 1 / 97),
    _number("vsnr", "social security numbers (Austria)", "at.vnr", r"\d{10}", 1 / 10),
    _number("pesel", "PESEL numbers (Poland)", "pl.pesel", r"\d{11}", 1 / 10),
    _number("personnummer", "personal numbers (Sweden)", "se.personnummer", r"\d{10}|\d{12}", 1 / 10),
    _number("fodselsnummer", "birth numbers (Norway)", "no.fodselsnummer", r"\d{11}", 1 / 100),
    _alone(
        "hetu",
        "personal identity codes (Finland)",
        "fi.hetu",
        r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]",
        1 / 31,
        "131052-308T",
    ),
    _number("isikukood", "personal codes (Estonia, Lithuania)", "ee.ik", r"\d{11}", 1 / 10),
    _number("rodne_cislo", "birth numbers (Czechia, Slovakia)", "cz.rc", r"\d{10}", 1 / 11),
    _number("amka", "social security numbers (Greece)", "gr.amka", r"\d{11}", 1 / 10),
    _number("oib", "OIB numbers (Croatia)", "hr.oib", r"\d{11}", 1 / 10),
    _number("pps", "PPS numbers (Ireland)", "ie.pps", r"\d{7}[A-W][A-IW]?", 1 / 23),
    _number("cartao_cidadao", "citizen cards (Portugal)", "pt.cc", r"\d{9}[A-Z]{2}\d", 1 / 10),
    _number("nif", "tax numbers (Portugal)", "pt.nif", r"\d{9}", 1 / 10),
    _number("cnp", "personal codes (Romania)", "ro.cnp", r"\d{13}", 1 / 10),
    _number("egn", "civil numbers (Bulgaria)", "bg.egn", r"\d{10}", 1 / 10),
    _number("emso", "master citizen numbers (Slovenia and others)", "si.emso", r"\d{13}", 1 / 10),
    _number("rntrc", "taxpayer numbers (Ukraine)", "ua.rntrc", r"\d{10}", 1 / 10),
    _number("tckimlik", "identity numbers (Turkey)", "tr.tckimlik", r"\d{11}", 1 / 100),
    _number("teudat_zehut", "identity numbers (Israel)", "il.idnr", r"\d{9}", 1 / 10),
    _number("za_id", "identity numbers (South Africa)", "za.idnr", r"\d{13}", 1 / 10),
    _number("sin", "social insurance numbers (Canada)", "ca.sin", r"\d{9}", 1 / 10),
    _alone(
        "curp",
        "CURP numbers (Mexico)",
        "mx.curp",
        r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[0-9A-Z]\d",
        1 / 10,
        "BOXW310820HNERXN09",
    ),
    _number("cpf", "CPF numbers (Brazil)", "br.cpf", r"\d{11}", 1 / 100),
    _number("run", "RUN numbers (Chile)", "cl.rut", r"\d{7,8}[\dK]", 1 / 11),
    _number("cedula_do", "identity numbers (Dominican Republic)", "do.cedula", r"\d{11}", 1 / 10),
    _number("cedula_ec", "identity numbers (Ecuador)", "ec.ci", r"\d{10}", 1 / 10),
    _number("tfn", "tax file numbers (Australia)", "au.tfn", r"\d{9}", 1 / 10),
    _number("my_number", "My Number (Japan)", "jp.in_", r"\d{12}", 1 / 9),
    _number("resident_id_cn", "resident identity numbers (China)", "cn.ric", r"\d{17}[\dX]", 1 / 11),
    _number("resident_id_kr", "resident registration numbers (South Korea)", "kr.rrn", r"\d{13}", 1 / 10),
    _number("thai_id", "identity numbers (Thailand)", "th.pin", r"\d{13}", 1 / 10),
)
"""One entry for each number."""
