"""What a reply decides: its first line, by a table of words. Whatever is not plainly one of them decides nothing."""

from __future__ import annotations

import re
from typing import NamedTuple

from mailparser_reply import EmailReplyParser
from mailparser_reply.constants import MAIL_LANGUAGES

READ_CHARACTERS = 2_000
"""How much of a reply is read: the first line decides, and what follows is the reason."""

LINE_CHARACTERS = 200
REASON_CHARACTERS = 512

WORDS = {
    "granted": (
        *("approve", "approved", "approves", "i approve", "yes"),
        *("genehmigt", "genehmige", "ich genehmige", "genehmigen", "ja"),
        *("approuvé", "approuvée", "approuver", "j’approuve", "oui"),
        *("approvato", "approvata", "approvo", "sì"),
        *("aprobado", "aprobada", "apruebo", "aprobar", "sí", "si"),
        *(
            "goedgekeurd",
            "aprovado",
            "aprovada",
            "sim",
            "zatwierdzam",
            "tak",
            "godkänd",
            "godkendt",
            "schváleno",
        ),
        *("承認", "はい", "승인", "批准", "同意"),
    ),
    "denied": (
        *("deny", "denied", "i deny", "reject", "rejected", "no"),
        *("ablehnen", "abgelehnt", "ich lehne ab", "nicht genehmigt", "nein"),
        *("refusé", "refusée", "refuser", "je refuse", "non"),
        *("rifiutato", "rifiutata", "rifiuto"),
        *("rechazado", "rechazada", "rechazo", "rechazar"),
        *(
            "afgewezen",
            "nee",
            "negado",
            "negada",
            "não",
            "odrzucam",
            "nie",
            "avvisad",
            "nej",
            "afvist",
            "zamítnuto",
        ),
        *("却下", "いいえ", "거부", "拒绝", "不同意"),
    ),
}
"""Alone on the first line, whatever their case and the punctuation around them. A question mark is none of it. "No" and
"si" mean the same wherever they are words; "ok" is not here, since people begin with it what they do not agree to."""

_BUT = re.compile(
    r"\b(?:but|only|if|unless|except|instead|change|wait|aber|nur|wenn|falls|sondern|ändere?|bitte erst|mais|sauf|"
    r"seulement|sinon|plutôt|ma|solo se|però|pero|salvo|excepto|cambia|maar|alleen|mas|exceto|ale|men)\b",
    re.IGNORECASE,
)
"""What turns an approval into something else: it was asked for one exact call."""

_DECISIONS = {word: decision for decision, words in WORDS.items() for word in words}
_AROUND = " \t.,;:!…'\"“”„«»()[]*_-\u2013\u2014。\uff01、"
_parser = EmailReplyParser(languages=list(MAIL_LANGUAGES))


class Answer(NamedTuple):
    """``decision`` is ``granted``, ``denied`` or "" for nothing; ``reason`` is what stands below it."""

    decision: str
    reason: str = ""


def answer_in(text: str) -> Answer:
    """What a reply says, without what it quotes."""
    lines = _own_lines(text)
    if not lines:
        return Answer("")
    decision, rest = _decision(lines[0]), lines[1:]
    if any(_decision(line) not in ("", decision) for line in rest):
        return Answer("")
    reason = " ".join(rest)
    if decision == "granted" and _BUT.search(reason):
        return Answer("")
    return Answer(decision, reason[:REASON_CHARACTERS])


def _decision(line: str) -> str:
    said = " ".join(line.strip(_AROUND).replace("'", "’").casefold().split())
    return _DECISIONS.get(said, "")


def _own_lines(text: str) -> list[str]:
    """Lines that the sender has written: the parser takes for quoted text what mail programs put above it, in the
    languages that it knows."""
    # Bounded before the parser's patterns see it, some of which take the cube of what they are given.
    short = (line.strip()[:LINE_CHARACTERS] for line in text[:READ_CHARACTERS].splitlines())
    bounded = re.sub(r"\n{3,}", "\n\n", "\n".join(short).strip())
    reply = _parser.read(bounded).replies[0]
    own = reply.body.splitlines() if not reply.headers else []
    lines: list[str] = []
    for line in own:
        # Whatever stands below the first quoted line answers that line, not the question.
        if line.startswith((">", "|")):
            break
        if line.strip():
            lines.append(line.strip())
    return lines
