"""Headings of Moodle's grading worksheet, which are in the language of whoever downloads it.

The strings ``recordid``, ``lastmodifiedgrade`` and others of Moodle's language packs for assignments.
"""

from __future__ import annotations

ENGLISH = {
    "german": {
        "id": "identifier", "vollständiger name": "full name", "e-mail-adresse": "email address",
        "bewertung": "grade", "bestwertung": "maximum grade",
        "zuletzt geändert (abgabe)": "last modified (submission)",
        "zuletzt geändert (bewertung)": "last modified (grade)",
        "feedback als kommentar": "feedback comments",
    },
    "french": {
        "identifiant": "identifier", "nom complet": "full name", "adresse de courriel": "email address",
        "note": "grade", "note maximale": "maximum grade",
        "dernière modification (travail remis)": "last modified (submission)",
        "dernière modification (note)": "last modified (grade)",
        "feedback par commentaires": "feedback comments",
    },
    "spanish": {
        "identificador": "identifier", "nombre completo": "full name",
        "dirección de correo": "email address", "calificación": "grade",
        "calificación máxima": "maximum grade",
        "última modificación (entrega)": "last modified (submission)",
        "última modificación (calificación)": "last modified (grade)",
        "comentarios de retroalimentación": "feedback comments",
    },
}  # fmt: skip
MONTHS = (
    ("january", "januar", "janvier", "enero"), ("february", "februar", "février", "febrero"),
    ("march", "märz", "mars", "marzo"), ("april", "avril", "abril"), ("may", "mai", "mayo"),
    ("june", "juni", "juin", "junio"), ("july", "juli", "juillet", "julio"),
    ("august", "août", "agosto"), ("september", "septembre", "septiembre"),
    ("october", "oktober", "octobre", "octubre"), ("november", "novembre", "noviembre"),
    ("december", "dezember", "décembre", "diciembre"),
)  # fmt: skip


def english(head: list[str]) -> list[str]:
    """A table's headings in small letters; of a worksheet in a known language the English ones.

    A language is known by the three columns without which Moodle reads no worksheet; else nothing changes.
    """
    small = [name.strip().lower() for name in head]
    for words in ENGLISH.values():
        needed = {k for k, v in words.items() if v in ("identifier", "grade", "last modified (grade)")}
        if needed <= set(small):
            return [words.get(name, name) for name in small]
    return small
