"""A raw mail read strictly: who it is from, what it is about, what it says. Anything ambiguous is refused, since two
readers would take it for two things."""

from __future__ import annotations

import re
from codecs import lookup
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from typing import Any

from envelopes.errors import BeachError
from envelopes.protocol.text import clean_text

MAIL_BYTES = 1_000_000
"""The longest mail that is read."""

PARTS = 50
"""How many parts one may have."""

NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Codecs of Python by which no mail is written. Punycode takes the square of what it is given: minutes for a mail."""

HEADERS = 500
HEADER_CHARACTERS = 4_000

_ONCE = (
    *("from", "sender", "reply-to", "to", "cc", "subject", "date", "message-id", "in-reply-to"),
    *("content-type", "content-transfer-encoding", "mime-version", "auto-submitted"),
)
"""Headers of which there is at most one (RFC 5322, 3.6): of two, a mail host checks one and we would read the other."""

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_ADDRESS = rf"{_ATOM}(?:\.{_ATOM})*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*"
_FROM = re.compile(
    rf'(?:(?P<name>"(?:[^"\\]|\\.)*"|[^<>"@,;:()\[\]\\]*?) ?<(?P<named>{_ADDRESS})>|(?P<bare>{_ADDRESS}))'
)
_MESSAGE_ID = re.compile(r"<[!-;=?-~]{1,250}>")


class MailRefused(BeachError):
    """This mail cannot be read."""

    code = "mail_refused"
    fault = "client"


@dataclass(frozen=True)
class Mail:
    """``sender`` is the one address of From, in lower case. ``automatic`` says why no person wrote it, "" where one
    did. ``results`` are its Authentication-Results, the topmost first. ``text`` is None where it has no plain text."""

    sender: str
    subject: str
    text: str | None
    results: list[str]
    automatic: str
    message_id: str

    @property
    def domain(self) -> str:
        return self.sender.rpartition("@")[2]


def read(raw: bytes) -> Mail:
    """Raises ``MailRefused``."""
    if len(raw) > MAIL_BYTES:
        raise MailRefused(f"It is larger than {MAIL_BYTES:,} bytes.", limit=MAIL_BYTES)
    try:
        message = message_from_bytes(raw, policy=policy.compat32)
        return _read(message)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, HeaderParseError) as error:
        # What the parser of the standard library raises on broken mails.
        raise MailRefused("It is malformed.") from error


def _read(message: Message) -> Mail:
    if len(message) > HEADERS:
        raise MailRefused(f"It has more than {HEADERS} headers.")
    for name in _ONCE:
        if len(message.get_all(name, [])) > 1:
            raise MailRefused(f"It has more than one header {name.title()}.")
    message_id = _header(message, "message-id")
    return Mail(
        _sender(message),
        _decoded(_header(message, "subject")),
        _text(message),
        [" ".join(str(one).split()) for one in message.get_all("authentication-results", [])],
        _automatic(message),
        message_id if _MESSAGE_ID.fullmatch(message_id) else "",
    )


def _header(message: Message, name: str) -> str:
    # A header with bytes in it is no text.
    value: Any = message.get(name, "")
    if not isinstance(value, str) or len(value) > HEADER_CHARACTERS:
        raise MailRefused(f"Its header {name.title()} is not ASCII, or too long.")
    return " ".join(value.split())


def _sender(message: Message) -> str:
    value = _header(message, "from")
    found = _FROM.fullmatch(value)
    if found is None:
        raise MailRefused("It is not from exactly one address.")
    address = str(found["named"] or found["bare"]).lower()
    name = _decoded((found["name"] or "").strip('"'))
    if "@" in name and name.strip().lower() != address:
        raise MailRefused("The name of its sender is another address.")
    other = _header(message, "sender")
    if other and (
        (on_behalf := _FROM.fullmatch(other)) is None
        or str(on_behalf["named"] or on_behalf["bare"]).lower() != address
    ):
        raise MailRefused("It was sent by somebody else than it is from.")
    return address


def _decoded(value: str) -> str:
    pieces = [
        piece if isinstance(piece, str) else _text_of(piece, charset or "ascii")
        for piece, charset in decode_header(value)
    ]
    return "".join(pieces)


def _automatic(message: Message) -> str:
    """Why no person wrote it (RFC 3834, and what mail programs do beside it)."""
    submitted = _header(message, "auto-submitted").partition(";")[0].strip().lower()
    if submitted not in ("", "no"):
        return "Auto-Submitted"
    if _header(message, "return-path") == "<>":
        return "Return-Path"
    if _header(message, "precedence").lower() in ("bulk", "junk", "list", "auto_reply"):
        return "Precedence"
    for name in ("List-Id", "List-Unsubscribe", "X-Autoreply", "X-Autorespond", "X-Auto-Reply", "X-Loop"):
        if name in message:
            return name
    kind = message.get_content_type()
    return kind if kind in ("multipart/report", "message/rfc822", "message/delivery-status") else ""


def _text(message: Message) -> str | None:
    """The first plain text that is no file; none of a mail that is attached to it."""
    waiting, seen = [message], 0
    while waiting:
        part = waiting.pop(0)
        seen += 1
        if seen > PARTS:
            raise MailRefused(f"It has more than {PARTS} parts.")
        payload = part.get_payload()
        if part.get_content_maintype() == "multipart":
            if not isinstance(payload, list):
                raise MailRefused("It is malformed.")
            # In the order of the mail.
            waiting = [one for one in payload if isinstance(one, Message)] + waiting
        elif part.get_content_type() == "text/plain" and part.get_content_disposition() != "attachment":
            body = part.get_payload(decode=True)
            if not isinstance(body, bytes):
                raise MailRefused("It is malformed.")
            return _text_of(body, part.get_content_charset("utf-8"))
    return None


def _text_of(value: bytes, charset: str) -> str:
    """Storable, whatever the charset makes of it: UTF-7 and some others know halves of characters, and NUL."""
    if lookup(charset).name.replace("_", "-") in NO_CHARSETS:
        raise MailRefused("It is written in no charset of mails.")
    return clean_text(value.decode(charset, "replace"))
