"""Mails that are made to break whoever reads them."""

from __future__ import annotations

import pytest

from envelopes.protocol.text import UNSAFE
from envelopes.transports.email.reading import MailRefused, read
from envelopes.transports.email.vouching import vouched

HOST = "mx.chat.example"


def mail(charset: str, body: bytes, subject: str = "Re") -> bytes:
    head = f'From: grace@example.com\nSubject: {subject}\nContent-Type: text/plain; charset="{charset}"\n\n'
    return head.encode() + body


@pytest.mark.parametrize("charset", ["punycode", "Punycode", "unicode_escape", "raw-unicode-escape", "idna"])
def test_a_codec_that_is_no_charset_is_refused_and_not_run(charset: str) -> None:
    with pytest.raises(MailRefused, match="no charset of mails"):
        read(mail(charset, b"yes"))
    with pytest.raises(MailRefused, match="no charset of mails"):
        read(mail("utf-8", b"yes", subject=f"=?{charset}?q?yes?="))


def test_what_a_charset_makes_can_be_stored() -> None:
    read_mail = read(mail("utf-7", b"yes\n+2AA- \0", subject="=?utf-7?q?+2AA-=00?="))

    assert read_mail.text is not None
    assert read_mail.text.startswith("yes")
    assert not UNSAFE.search(read_mail.text + read_mail.subject)


def test_results_with_comments_in_comments_without_end_vouch_for_nobody() -> None:
    deep = f"{HOST}; dmarc=pass {'(' * 1500}{')' * 1500} header.from=example.com"

    assert vouched([deep], "example.com", [HOST]) == ""
    assert vouched([f"{HOST}; dmarc=pass (p=none) header.from=example.com"], "example.com", [HOST]) == "dmarc"
