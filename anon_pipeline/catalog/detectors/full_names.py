"""Whether the values of a column are full names of people, whatever the column is called.

A full name has two to four words with a capital, and of a column of them many have a frequent given name.
Companies, towns, streets, products and titles have the same form, but few given names.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

from anon_pipeline.catalog.detectors.given_names import GIVEN_NAMES
from anon_pipeline.catalog.detectors.identifying_names import ASIDE, name_words

FEWEST: Final = 10
"""Different values, below which nothing is said of a column of any name."""

FEWEST_OF_PERSONS: Final = 5
"""The same of a column that is called by a word for persons."""

_FORMED = 0.8  # share of the different values that have the form of a full name
_GIVEN = 0.4  # share of those with a given name, in a column of any name
_GIVEN_OF_PERSONS = 0.25  # the same in a column that is called by a word for persons
_ALIKE = 0.25  # share of those that end in one word (a school, a street), and are then no names
_LOOKED = 2_000  # different values that are read, spread evenly
_WORDS = (2, 4)  # of a full name, without titles and particles

_WORD = re.compile(r"[^\W\d_][^\W\d_'’.-]*(?:['’.-][^\W\d_]+)*\.?")
_TITLED = re.compile(
    r"(?:mrs?|ms|miss|dr|prof|frau|herr|mme|mlle|sig|sig\.ra|sra|srta)\.? +(?:[^\W\d_][^\d_]*)", re.IGNORECASE
)
_CAPITAL = re.compile(r"^(?:[a-z]{1,2}['’])?[^\W\d_]", re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_PARTICLES = _words(
    """
    van von vom zu zur zum de der den del della di da dal do dos das du la le el al bin ibn ben ten ter y e
    af av mac mc st. jr jr. sr sr. ii iii iv md phd m.d. ph.d. dds dvm b.sc. m.sc. b.a. m.a. b.eng. esq
    """
)
_TITLES = _words(
    """
    mr mrs ms miss dr prof sir dame rev fr herr frau hr mag ing dipl.-ing univ.prof mme mlle m sig sig.ra
    dott dott.ssa sr sra srta d dn pan pani av arş gör hon dkt mgr bc doc phdr judr mudr rndr phmr
    """
)
_OTHERS = _words(
    """
    street avenue road lane drive court boulevard blvd square place park way hill hills strasse straße weg
    platz gasse allee rue chemin via piazza calle plaza school college university institute academy hospital
    clinic center centre church cathedral chapel temple library museum theater theatre stadium airport
    station bridge hotel restaurant cafe bar foundation trust fund association club team united city town
    county district region state island islands lake river mount mountain bay beach port fort valley falls
    springs grove heights village new north south east west upper lower old great grand little big red blue
    green black white golden royal national international american european general first second san santa
    santo sao são saint sainte st sankt st. los las les the a an of and or in on at for with to from by my
    your our gmbh ag kg ohg inc inc. ltd ltd. llc llp plc corp corp. co co. company group holding holdings
    partners associates brothers bros sons services service systems solutions industries technologies
    technology bank insurance capital energy motors foods stores media press records studios labs pharma sa
    s.a. sas sarl srl s.r.l. spa crescent close gardens terrace mews glen glens haven isle ridge view loop
    trail pass courts s.p.a. bv b.v. nv n.v. ab oy as a/s aps gymnasium grundschule realschule gesamtschule
    schule klinik krankenhaus stiftung verein stadt lycee lycée ecole école collège scuola liceo istituto
    ospedale escuela colegio instituto day night song story book tale award prize cup open championship
    syndrome disease disorder syndrom test acid sodium chloride
    """
)
_PERSONS = _words(
    """
    pupil tenant claimant member borrower beneficiary applicant candidate defendant plaintiff victim witness
    suspect inmate prisoner detainee donor recipient guest visitor passenger driver owner landlord landlady
    lodger renter lessee lessor debtor creditor payer payee buyer seller voter trainee apprentice intern
    worker colleague contact caregiver carer guardian parent mother father child spouse husband wife partner
    sibling insured subscriber caller complainant policyholder holder resident occupant participant
    respondent customer client patient employee person user student subject citizen insuree policyowner
    mortgagor beneficiaries individual who name kunde kundin patientin mitarbeiter mitarbeiterin schueler
    schuelerin mieter mieterin antragsteller antragstellerin kreditnehmer kreditnehmerin darlehensnehmer
    versicherter versicherte beguenstigter bewohner bewohnerin gast fahrer fahrerin kind mutter vater
    ehepartner spender spenderin mitglied teilnehmer teilnehmerin eleve locataire demandeur emprunteur
    beneficiaire adherent assure cliente salarie alunno alunna inquilino inquilina richiedente mutuatario
    beneficiario socio socia paziente dipendente alumno alumna solicitante prestatario paciente empleado
    empleada doctor physician gp nurse teacher referee hausarzt hausaerztin arzt aerztin lehrer lehrerin
    """
)
_OF_THINGS = _words(
    """
    segment ward brand house city town company firm agent department hospital school country region group
    product account order
    """
)
"""Words beside one for persons that say what else the column is about: customer segment, user agent."""


def is_word_for_persons(column: str) -> bool:
    """Tell whether a column is called by a word for persons, and not something of theirs.

    >>> [is_word_for_persons(name) for name in ("pupil", "Borrower", "member_type", "author")]
    [True, True, False, False]
    >>> [is_word_for_persons(name) for name in ("teacher", "Hausarzt", "user agent", "patient_ward")]
    [True, True, False, False]
    """
    words = {*name_words(column)}
    return bool(words & _PERSONS) and not words & {*ASIDE, *_OF_THINGS}


def are_full_names(values: Sequence[str], *, of_persons: bool = False) -> bool:
    """Tell whether nearly all of some different values are full names of people.

    Args:
        values: different, as texts.
        of_persons: see `is_word_for_persons`; fewer values, and fewer frequent given names, are then enough.

    >>> are_full_names(["Ann Lee", "Baker, Tom", "Eva van Dyk", "Olga Petrova", "Jo Roux"], of_persons=True)
    True
    >>> are_full_names(["Wells Fargo", "Rolls Royce", "Best Buy", "Air Liquide", "Swiss Re"], of_persons=True)
    False
    """
    looked = values[:: max(1, -(-len(values) // _LOOKED))]
    names = [parts for text in looked if (parts := name_parts(text))]
    fewest, share = (FEWEST_OF_PERSONS, _GIVEN_OF_PERSONS) if of_persons else (FEWEST, _GIVEN)
    if len(names) < fewest or len(names) < _FORMED * len(looked):
        return False
    first, last = (Counter(parts[place] for parts in names) for place in (0, -1))
    if last.most_common(1)[0][1] > max(1, _ALIKE * len(names)):
        return False
    given = max(sum(many for word, many in end.items() if _is_given(word)) for end in (first, last))
    return given >= share * len(names)


def are_titled_names(values: Sequence[str]) -> bool:
    """Tell whether nearly all of some different values are a title and a name: ``Ms Clarke``.

    >>> are_titled_names(["Ms Clarke", "Mr. Day", "Dr. Ann Lee", "Frau Vogt", "Mrs O'Hara"])
    True
    >>> are_titled_names(["Ms Clarke", "Mr", "Clarke", "Dr Pepper", "Miss"])
    False
    """
    looked = values[:: max(1, -(-len(values) // _LOOKED))]
    titled = sum(_TITLED.fullmatch(text.strip()) is not None for text in looked)
    return titled >= FEWEST_OF_PERSONS and titled >= _FORMED * len(looked)


def name_parts(text: str) -> tuple[str, ...]:
    """Return the words of a text that has the form of a full name, the given name first; else none.

    They are in small plain letters, without titles, particles and what stands behind a name.

    >>> name_parts("van der Berg, Dr. Ann-Marie"), name_parts("12 Mill Lane"), name_parts("Paris")
    (('ann-marie', 'berg'), (), ())
    """
    last, comma, first = text.partition(",")
    whole = f"{first} {last}" if comma and first.strip(" .").lower() not in _PARTICLES else f"{last} {first}"
    words = whole.split()
    if not all(_WORD.fullmatch(word) for word in words):
        return ()
    kept = [word for word in words if not {word.lower(), word.lower().rstrip(".")} & (_PARTICLES | _TITLES)]
    if not all(_CAPITAL.match(word) and not word.islower() for word in kept):
        return ()
    plain = [_plain(word) for word in kept if len(word.strip(".")) > 1]
    if not _WORDS[0] <= len(plain) <= _WORDS[1] or {*map(str.lower, kept), *plain} & _OTHERS:
        return ()
    return tuple(plain)


def _plain(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.lower().replace("ł", "l").replace("ø", "o"))
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _is_given(word: str) -> bool:
    """Tell whether a word is a given name, or two that are joined: Jean-Paul."""
    return word in GIVEN_NAMES or word.partition("-")[0] in GIVEN_NAMES
