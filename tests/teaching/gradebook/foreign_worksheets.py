"""Moodle's grading worksheet in other languages, each with one student."""

WORKSHEETS = {
    "German": 'ID,"Vollständiger Name",E-Mail-Adresse,Status,Bewertung,Bestwertung,'
    '"Bewertung kann geändert werden","Zuletzt geändert (Abgabe)",'
    '"Zuletzt geändert (Bewertung)","Feedback als Kommentar"\n'
    'Teilnehmer/in111,Jane Doe,j@x.org,Abgegeben,,"20,00",Ja,"Freitag, 20. März 2026, 21:48",-,\n',
    "French": "Identifiant,Nom complet,Adresse de courriel,Statut,Note,Note maximale,"
    "La note peut être modifiée,"
    "Dernière modification (travail remis),Dernière modification (note),Feedback par commentaires\n"
    'Participant111,Jane Doe,j@x.org,Remis,,"20,00",Oui,"vendredi 20 mars 2026, 21:48",-,\n',
    "Spanish": "Identificador,Nombre completo,Dirección de correo,Estado,Calificación,Calificación máxima,"
    "La calificación puede ser cambiada,Última modificación (entrega),Última modificación (calificación),"
    "Comentarios de retroalimentación\n"
    'Participante 111,Jane Doe,j@x.org,Enviado,,"20,00",Sí,"viernes, 20 de marzo de 2026, 21:48",-,\n',
}
