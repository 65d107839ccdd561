"""Full names of people are recognized in a column of any name; companies, towns and titles are none."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.catalog.detectors.full_names import (
    FEWEST,
    FEWEST_OF_PERSONS,
    are_full_names,
    is_word_for_persons,
    name_parts,
)

NAMES = {
    "english": "Ann Lee;Robert Brown;Maria Garcia;Wei Chen;Priya Patel;John Smith;Linda Nguyen;"
    "DeShawn Carter;"
    "Emily Clark;Olu Adeyemi;Tom Hunt;Jean Grey",
    "last first": "Lee, Ann;Brown, Robert J.;Garcia Lopez, Maria;Chen, Wei;Patel, Priya;Smith, John;"
    "Roux, Luc;"
    "Khan, Fatima;Nguyen, Linda;O'Neil, Sean",
    "capitals": "LEE ANN;BROWN ROBERT;GARCIA MARIA;CHEN WEI;PATEL PRIYA;SMITH JOHN;KHAN FATIMA;ROUX LUC;"
    "DIAZ ANA;MEIER URS",
    "german": "Dr. Anna Müller;Jürgen Weiß;Uwe Schmidt-Koch;Sabine von der Heide;Karl-Heinz Roth;Petra Lang;"
    "Jörg Kühn;Heike Vogel;Bernd Zimmermann;Ute Sommer",
    "romance": "Luca Rossi;Giulia Bianchi;Jean-Paul Roux;María del Carmen Ruiz;José García López;Chloé Petit;"
    "João dos Santos Silva;Inês Costa;Paolo Conti;Amélie Durand",
}
OTHERS = {
    "companies": "Morgan Stanley;Wells Fargo;Goldman Sachs;Johnson Controls;Philip Morris;Charles Schwab;"
    "Eli Lilly;John Deere;Rolls Royce;Harley Davidson;Mercedes Benz;Aston Martin;Best Buy;Home Depot;"
    "General Electric;Berkshire Hathaway;Procter Gamble;Walt Disney;Texas Instruments;Union Pacific;"
    "Credit Suisse;Swiss Re;Air Liquide;Munich Re;Abbott Laboratories;Thermo Fisher;"
    "Capital One;Delta Airlines",
    "towns": "New York;Los Angeles;San Francisco;San Jose;Salt Lake City;Las Vegas;El Paso;Fort Worth;"
    "Ann Arbor;"
    "Santa Ana;Long Beach;Virginia Beach;Baton Rouge;Des Moines;Cape Town;Buenos Aires;Hong Kong;Tel Aviv;"
    "Port Elizabeth;Saint Louis;Bad Homburg;Milton Keynes;Kings Lynn;George Town",
    "drugs": "Metformin Hydrochloride;Amlodipine Besylate;Atorvastatin Calcium;Albuterol Sulfate;"
    "Insulin Aspart;"
    "Losartan Potassium;Insulin Glargine;Metoprolol Tartrate;Fluticasone Propionate;Doxycycline Hyclate;"
    "Clopidogrel Bisulfate;Quetiapine Fumarate",
    "titles": "Anna Karenina;Jane Eyre;Oliver Twist;Moby Dick;War and Peace;Great Expectations;Little Women;"
    "Pride and Prejudice;Brave New World;Animal Farm;The Great Gatsby;The Trial;Crime and Punishment;"
    "Peter Pan;Dead Souls;Bleak House;Hard Times;Harry Potter",
    "schools": "Albert Einstein Gymnasium;Anne Frank Realschule;Sophie Scholl Schule;Max Planck Gymnasium;"
    "Martin Luther Schule;Maria Ward Schule;Heinrich Heine Gymnasium;Carl Orff Schule;Otto Hahn Gymnasium;"
    "Erich Kästner Schule",
    "streets": "Mill Lane;Church Road;Victoria Road;Albert Road;George Street;Henry Close;William Gardens;"
    "James Terrace;Elizabeth Mews;Charles Crescent",
    "plays of one hero": "Henry Tudor;Mary Tudor;Jane Tudor;Anne Tudor;Arthur Tudor;Edward Tudor;John Tudor;"
    "Robert Tudor;Alice Tudor;Emma Tudor",
    "cars": "Ford Focus;Fiat Panda;Renault Clio;Honda Civic;Toyota Corolla;Alfa Romeo;Opel Corsa;Seat Leon;"
    "Skoda Octavia;Kia Ceed;Mazda Miata;Volvo Amazon",
    "jobs": "Software Engineer;Data Analyst;Sales Manager;Store Clerk;Truck Driver;Nurse Practitioner;"
    "Civil Engineer;Chief Officer;Project Manager;Dental Assistant",
    "illnesses": "Heart Failure;Crohn Disease;Multiple Sclerosis;Lung Cancer;Bell Palsy;Renal Failure;"
    "Guillain Barre;Atrial Fibrillation;Acute Appendicitis;Down Syndrome",
    "first names": "Ann;Robert;Maria;Wei;Priya;John;Fatima;Linda;Emily;Tom",
    "codes": "A1 B2;Ann 1;12 Main;X-7 Q;2024 Jan;Tom_2;#4 Lee;Ann/Bob;Q. 7;B 52",
}


@pytest.mark.parametrize("kind", NAMES)
def test_names_of_people_are_found(kind: str) -> None:
    values = NAMES[kind].split(";")
    assert are_full_names(values)
    assert are_full_names(values[:FEWEST_OF_PERSONS], of_persons=True)
    assert not are_full_names(values[: FEWEST_OF_PERSONS - 1], of_persons=True)
    assert not are_full_names(values[: FEWEST - 1])


@pytest.mark.parametrize("kind", OTHERS)
def test_what_has_the_form_of_names_is_none(kind: str) -> None:
    values = OTHERS[kind].split(";")
    assert not are_full_names(values)
    assert not are_full_names(values, of_persons=True)


def test_a_few_cells_without_a_name_hide_nothing_and_many_do() -> None:
    names = NAMES["english"].split(";")
    assert are_full_names([*names, "none", "unknown"])
    assert not are_full_names([*names, *(f"case {i}" for i in range(4))])


def test_of_many_values_some_are_read() -> None:
    given, family = ["Ann", "Tom", "Eva", "Max"], np.random.default_rng(4).integers(0, 26, (20_000, 6))
    many = [f"{given[i % 4]} {''.join(chr(97 + one) for one in row).title()}" for i, row in enumerate(family)]
    assert are_full_names(sorted({*many}))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Ann Lee", ("ann", "lee")),
        ("Lee, Ann", ("ann", "lee")),
        ("Ann Lee, PhD", ("ann", "lee")),
        ("Prof. Dr. Jörg B. Kühn", ("jorg", "kuhn")),
        ("Sean O'Neil", ("sean", "o'neil")),
        ("Łukasz Nowak", ("lukasz", "nowak")),
        ("ann lee", ()),
        ("Ann", ()),
        ("Ann Lee 2", ()),
        ("Lane Street", ()),
        ("One Two Three Four Five", ()),
        ("", ()),
        (",", ()),
    ],
)
def test_the_words_of_a_name(text: str, parts: tuple[str, ...]) -> None:
    assert name_parts(text) == parts


def test_words_for_persons() -> None:
    words = ("pupil", "Tenant", "claimant_name", "borrower 1", "Mieter", "emprunteur", "Schülerin")
    assert all(map(is_word_for_persons, words))
    assert not any(map(is_word_for_persons, ("member_type", "artist", "city", "customer_group", "x")))
