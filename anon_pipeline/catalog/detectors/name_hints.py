"""What the name of a column says it holds: a table of words in English, German, French, Spanish and Italian.

A new word is one more in its entry. A name is a hint and no proof: roles are proposed by the values, too.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

Leads = Literal["identifier", "number of one's own", "free text", "quasi", "measure", "sensitive"]
"""What a hint leads to: an identifier; one if its values are different; free text; a quasi-identifier; a
number of the body, which gets noise; what an attacker wants to learn."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Words by which columns of one meaning are named.

    meaning: for people, in the plural or as a mass noun: "postal codes".
    leads: to which role, see `Leads`.
    words: patterns of `fnmatch`, each for one word of a name; several words joined by ``_`` must follow each
        other.
    is_postal, is_age, is_year: whether values are of a kind with a hierarchy of its own.
    """

    meaning: str
    leads: Leads
    words: tuple[str, ...]
    is_postal: bool = False
    is_age: bool = False
    is_year: bool = False


def _hint(meaning: str, leads: Leads, words: str, **kinds: bool) -> Hint:
    return Hint(meaning, leads, tuple(words.split()), **kinds)


MONEY = "money"

HINTS = (
    _hint(
        "e-mail addresses",
        "identifier",
        "email* e_mail* mail mailadresse correo courriel *emailadresse posta_elettronica",
    ),
    _hint(
        "telephone numbers",
        "identifier",
        "phone* telephone* tel telefon* mobile mobil* cell cellphone fax* handy* telefono* portable "
        "natel cellulare movil telephon rufnummer",
    ),
    _hint(
        "addresses",
        "identifier",
        "address* street* strasse* *strasse adresse* anschrift rue direccion* calle indirizzo "
        "house_number hausnummer hausnr apartment addr addr1 addr2 line1 line2 *adresse domicile "
        "domicilio civico numero_civico",
    ),
    _hint(
        "numbers of persons or documents",
        "identifier",
        "ssn *_ssn social_security* socialsecurity* ahv* avs sozialversicherung* nino nhs nhs_* "
        "national_id nationalid passport* passnummer ausweis* driving_license* drivers_license* "
        "license_plate plate kennzeichen tax_id taxid steuer* steuernummer curp cpf dni nif "
        "personnummer insurance_number versichertennummer mrn medical_record* beneficiary*",
    ),
    _hint(
        "numbers of accounts or cards",
        "identifier",
        "iban* *_iban account account_no account_nr account_number account_num accountnumber acct* "
        "konto kontonummer kontonr kontonr. card_number card_no cardnumber pan credit_card "
        "kreditkarte* compte n_compte cuenta bic_iban depot",
    ),
    _hint(
        "places on a map",
        "identifier",
        "lat latitude lon lng longitude geo gps coordinates coords breitengrad laengengrad",
    ),
    _hint(
        "addresses of machines, pages and devices",
        "identifier",
        "ip ip_* ipaddress client_ip remote_addr mac mac_* imei imsi device_id deviceid serial "
        "serial_* vin url uri link referer referrer user_agent useragent agent cookie* session "
        "session_* sessionid path request query photo image picture foto fingerprint* host hostname",
    ),
    _hint(
        "names of persons",
        "identifier",
        "name first_name firstname given_name givenname middle_name last_name lastname surname "
        "family_name familyname full_name fullname maiden_name patient_name customer_name client_name "
        "employee_name person_name member_name user_name username login handle nickname vorname "
        "nachname familienname zuname nom prenom nombre apellido* cognome nome holder kontoinhaber "
        "inhaber doctor physician teacher supervisor manager attending* guardian mother father parent "
        "spouse contact_person emergency_contact initials provider_name child_name insured "
        "policyholder claimant rufname geburtsname ledigname kundenname mitarbeitername patientenname "
        "nachnamen vornamen noms prenoms nombres cognomi nomi nominativo nom_de_famille "
        "ansprechpartner* ansprechperson vorgesetzt* arzt aerztin medecin medico",
    ),
    _hint(
        "free text",
        "free text",
        "note notes *_notes comment* remark* description descr memo freetext free_text text message* "
        "bemerkung* kommentar* anmerkung* notiz* feedback narrative observation* observaciones "
        "verwendungszweck buchungstext suggestions open_answer other_specify statement subject_line",
    ),
    _hint(
        "postal codes",
        "quasi",
        "zip zip_* zipcode postal* postcode* post_code* plz npa cap cp",
        is_postal=True,
    ),
    _hint("ages", "quasi", "age *_age age_* alter edad eta ages", is_age=True),
    _hint(
        "years of birth",
        "quasi",
        "birth_year birthyear year_of_birth yob geburtsjahr jahrgang annee_naissance",
        is_year=True,
    ),
    _hint(
        "dates of birth",
        "quasi",
        "birth* dob *_dob born date_of_birth geburt* naissance date_naissance nacimiento "
        "fecha_nacimiento geboren* ne_le nee_le nato_il nascita fecha_de_nacimiento data_di_nascita "
        "data_nascita naiss date_naiss geb_dat gebdat geb_datum gebdatum fecha_nac fec_nac",
    ),
    _hint(
        "sex or gender", "quasi", "sex gender geschlecht sexe sexo sesso *_sex *_gender genre genero genere"
    ),
    _hint(
        "places",
        "quasi",
        "city town municipality commune gemeinde ort wohnort stadt ville ciudad comune canton kanton "
        "state province provincia region county district bezirk kreis country land pays pais nation "
        "residence birthplace place place_of_birth location village borough area urban* metro* "
        "country_code localita localite localidad citta poblacion municipio provinz bundesland "
        "quartier stadtteil",
    ),
    _hint(
        "origin",
        "quasi",
        "nationality nationalitaet staatsangehoerigkeit citizenship race ethnic* heritage "
        "*_nationality language mother_tongue muttersprache native_country origin immigrant* foreign* "
        "nationalite nacionalidad nazionalita cittadinanza ciudadania citoyennete staatsbuergerschaft "
        "langue idioma lingua sprache origine origen herkunft",
    ),
    _hint(
        "family",
        "quasi",
        "marital* civil_status zivilstand familienstand etat_civil household* family_size children "
        "kinder dependents num_children n_children relationship persons_in_household haushalt* "
        "estado_civil stato_civile situation_familiale enfants hijos figli ",
    ),
    _hint(
        "education and work",
        "quasi",
        "education* degree bildung* school highest_degree qualification occupation* job* profession "
        "beruf position title job_title department dept abteilung team employer arbeitgeber industry "
        "branche sector workclass employment* rank grade_level pay_grade hours* hours_per_week "
        "seniority tenure site office branch filiale division major programme program class course "
        "semester faculty formation estudios istruzione titolo_di_studio schulabschluss abschluss "
        "funktion fonction puesto cargo emploi metier ocupacion profesion professione occupazione "
        "mestiere departamento departement reparto pensum beschaeftigungsgrad arbeitszeit* "
        "arbeitspensum wochenstunden dienstalter anciennete antiguedad anzianita",
    ),
    _hint(
        "what others see or know",
        "quasi",
        "ward station hospital* clinic* facility store tenant* housing dwelling building_type "
        "vehicle* make model year_of_make car* plan policy_type product customer_since smoker smoking "
        "marketing channel veteran* browser device os",
    ),
    _hint(
        "measures of the body",
        "measure",
        "height* weight* bmi groesse gewicht taille poids waist *_cm *_kg "
        "koerpergroesse koerpergewicht stature estatura altura talla altezza statura peso",
    ),
    _hint(
        "health",
        "sensitive",
        "diagnos* dx icd* disease* illness condition* symptom* treatment* procedure* medication* "
        "drug* allerg* hiv* blood* systolic diastolic lab* hba1c glucose cholesterol pulse heart_rate "
        "outcome severity triage discharge_status mental* depress* pregnan* krankheit* befund* "
        "disability* special_needs* schwerbehinder* behinder* handicap* sen_status invalidit* sick_days "
        "absence* absent* hb_a1c sickness krank* los length_of_stay result* therapy vaccin* injury* maladie* "
        "enfermedad* malattia* gesundheit* salud salute sante medikament* medicament* farmaco* traitement* "
        "tratamiento* trattamento* therapie* terapia* blutdruck* fehltage "
        "addict* sucht* schwanger* enceinte grossesse* embaraz* incinta gravidanza*",
    ),
    _hint(
        MONEY,
        "sensitive",
        "kredit* kontostand vermoegen net_worth salary* wage* income* lohn* gehalt* pay bonus* "
        "revenue balance* saldo amount* betrag* montant importe credit* debit* loan* debt* charge* "
        "cost* claim_amount claimed* paid* premium* price* payment* capital_gain capital_loss kosten* "
        "prix deductible* reserve* wealth rent miete umsatz* limit* sum* total* fee* spend* "
        "overdraft* copay* settled* fine salaire* salario* salari sueldo* stipendio* retribuzione* "
        "remuneration* remuneracion* verguetung* entlohnung* entgelt* bezuege besoldung* honorar* "
        "einkommen* verdienst* brutto* netto* *lohn *loehne *gehalt *gehaelter *einkommen revenu* "
        "ingreso ingresos reddito* paga nomina praemie* pension* rente* rentas schuld* dette* "
        "deuda* debito* loyer alquiler affitto importo* solde precio* prezzo* cout* coste* costo* "
        "ertrag* guthaben prestito* prestamo* ",
    ),
    _hint(
        "what was judged of a person",
        "sensitive",
        "score* mark marks points gpa rating* satisfaction* performance* rank_in_class exam* test* "
        "evaluation* note_finale punkte* zensur grade grades risk* fraud* default* churn* passed "
        "result_code math* reading* writing* science* engagement* potential warning* disciplin* "
        "arrest* bewertung* beurteilung* leistung* zufriedenheit* evaluacion* valutazione* "
        "calificacion* voto_finale punteggio fired dismiss* kuendigung* abmahnung* entlassung* entlassen "
        "harass* mobbing* grievance* licenciement* despido* licenziamento* avertissement*",
    ),
    _hint(
        "opinions and beliefs",
        "sensitive",
        "religion* faith confession konfession party* vote* voting orientation union* political* "
        "opinion* belief* crime* offen[cs]e* convict* attitude* trust* stress* happiness wellbeing "
        "konfession* confessione partei* gewerkschaft* syndicat* sindacato sindicato vorstrafe* "
        "vorbestraft* on_strike striker* strikebreaker* streik* huelga* sciopero greve*",
    ),
    _hint(
        "numbers of one's own",
        "number of one's own",
        "id *_id ids uuid guid key record* row index no nr num number nummer *nummer *number *nr code "
        "reference ref token hash case_id claim_id policy_no policy_number member* customer_no "
        "kundennr* matricule respondent respondent_id participant* subject patient patient_id pid cid "
        "uid user student_id employee_id personalnummer transaction* txn* order_id encounter* "
        "visit_id case_no dossier* aktenzeichen unnamed* numero matricola legajo codigo",
    ),
    _hint(
        "dates",
        "quasi",
        "date* *date datum* *datum time timestamp datetime admission* admitted discharge* visit* "
        "entry* hired hire* joined start* end* since opened closed filed year month day jahr monat "
        "annee created updated last_login valid* expires fecha* zeit* term* eintritt* austritt* "
        "anstellung* einstellungsdatum entree* embauche* sortie* entrada salida "
        "assunzione* ingresso cessazione contratacion data_di_* data_assunzione data_ingresso anno ano "
        "fin_de_* debut* "
        "beginn* ende seit depuis desde",
    ),
)
"""All hints, in the order in which they are asked: the first that fits decides."""


def name_words(name: str) -> list[str]:
    """Return the words of a column's name, in small ASCII letters.

    >>> name_words("Date of Birth"), name_words("patientNo"), name_words("Geburtsdatum (Größe)")
    (['date', 'of', 'birth'], ['patient', 'no'], ['geburtsdatum', 'groesse'])
    """
    spelled = name.translate(_SPELLED)
    plain = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", plain)
    return [word for word in re.split(r"[^a-z0-9]+", parts.lower()) if word]


_SPELLED = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "№": "no", "#": " no "}
)


def find_hint(name: str) -> Hint | None:
    """Return the first hint that a column's name fits; None: the name says nothing.

    >>> find_hint("ZIP code").meaning, find_hint("Post Code").meaning, find_hint("q7") is None
    ('postal codes', 'postal codes', True)
    """
    words = name_words(name)
    joined = "_".join(words)
    whole = (hint for hint in HINTS if any(fits_pattern(joined, word) for word in hint.words))
    return next(whole, None) or next((hint for hint in HINTS if _fits_part(hint, words)), None)


def _fits_part(hint: Hint, words: list[str]) -> bool:
    for pattern in hint.words:
        size = pattern.strip("*_").count("_") + 1
        parts = ("_".join(words[i : i + size]) for i in range(len(words) - size + 1))
        if any(fits_pattern(part, pattern) for part in parts):
            return True
    return False


def fits_pattern(text: str, pattern: str) -> bool:
    """Tell whether a text is of a pattern of `fnmatch`, most of which have one star at most.

    >>> [fits_pattern("taxid", one) for one in ("taxid", "tax*", "*id", "*", "t*d", "tax", "taxi*xid")]
    [True, True, True, True, True, False, False]
    """
    head, star, tail = pattern.partition("*")
    if _SPECIAL.isdisjoint(pattern) and "*" not in tail:
        fits_ends = text.startswith(head) and text.endswith(tail) and len(text) >= len(head) + len(tail)
        return fits_ends if star else text == pattern
    return fnmatchcase(text, pattern)


_SPECIAL = frozenset("?[")


def hint_rank(name: str) -> int:
    """Return the place of a name's hint in the table, the last one for a name that says nothing."""
    hint = find_hint(name)
    return len(HINTS) if hint is None else HINTS.index(hint)
