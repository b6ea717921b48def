"""The hash chain of the audit log: how an entry gets its number and its digests.

*What is chained.* ``content_digest`` is the HMAC-SHA-256 of the personal fields (``models.audit.PERSONAL``, in RFC 8785
form) with a salt of 256 random bits, one for each entry. ``chain_digest`` is the SHA-256 of everything else of the
entry, ``content_digest`` included, with the ``chain_digest`` of the entry before. Whoever erases the content and the
salt leaves a digest of which nobody finds out what it was made of, and a chain that still holds (D26).

*How appends are put in order.* The one row of ``AuditChain`` is the lock. It is taken last: entries wait in the open
append (``Writer.last``) until all of its rows are stored, behind every other lock of that transaction, and it is held
until the commit. So a transaction that waits for it holds sessions, and one that has it waits for nothing: there is no
circle, and no deadlock. Group commits (``log.commits``) lock sessions in ascending order and never this row. Whoever
opens an append inside a larger transaction opens none for another session behind it. On SQLite all of this is BEGIN
IMMEDIATE, which lets one writer in at a time.

*No window.* The entry, the head and what they record commit together, so there is never a decision without its entry
nor an entry that the head does not count. The head is sealed with the secret key of the site: who can write to the
database, but has no key, can cut entries off or make a chain of their own, and cannot make the seal of it. An append
never heals a seal that does not hold: it leaves it broken, for ``verify`` to tell. After a change of SECRET_KEY the
one before stands in SECRET_KEY_FALLBACKS until the next entry, or ``beach verify-audit --seal`` makes it anew.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import UTC

import rfc8785
from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from envelopes.models.audit import AuditChain, AuditEntry
from envelopes.types import JsonObject

_SEAL = "beach.audit.seal"


def append(entries: Sequence[AuditEntry]) -> None:
    """Chain and store ``entries``, in this order; inside a transaction, as the last thing that it locks."""
    head = locked_head()
    number, digest, is_sealed = head.number, head.digest, holds(head)
    for entry in entries:
        number += 1
        entry.number = number
        entry.salt = secrets.token_hex(32)
        entry.content_digest = content_digest(entry.salt, entry.personal)
        digest = entry.chain_digest = chain_digest(digest, entry)
    AuditEntry.objects.bulk_create(entries)
    move(head, is_sealed=is_sealed, number=number, digest=digest)


def locked_head() -> AuditChain:
    """The head, locked until the transaction ends. One that is missing is made: sealed where there are no entries, and
    else without a seal, which ``verify`` tells."""
    found = AuditChain.objects.select_for_update().filter(pk=1).first()
    if found is not None:
        return found
    head = AuditChain(pk=1)
    newest = AuditEntry.objects.order_by("-number").first()
    if newest is None:
        head.seal = seal(head)
    else:
        head.number, head.digest = newest.number, newest.chain_digest
        head.first = AuditEntry.objects.order_by("number").values_list("number", flat=True)[0]
    # Another may be making it.
    AuditChain.objects.bulk_create([head], ignore_conflicts=True)
    return AuditChain.objects.select_for_update().get(pk=1)


def move(head: AuditChain, *, is_sealed: bool, **changes: str | int) -> None:
    """Store a head that has moved; sealed only where it was before."""
    for name, value in changes.items():
        setattr(head, name, value)
    head.seal = seal(head) if is_sealed else ""
    head.save()


def content_digest(salt: str, personal: JsonObject) -> str:
    """64 hex digits over the personal fields of an entry."""
    return hmac.new(bytes.fromhex(salt), rfc8785.dumps(personal), hashlib.sha256).hexdigest()


def chain_digest(previous: str, entry: AuditEntry) -> str:
    """64 hex digits over ``entry`` without its personal fields, and the digest of the one before it."""
    chained: JsonObject = {
        "previous": previous,
        "number": entry.number,
        "kind": str(entry.kind),
        "approval": entry.approval_id,
        "session": entry.session_id,
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "role": entry.role,
        "door": entry.door,
        "facts": entry.facts,
        "content": entry.content_digest,
    }
    return hashlib.sha256(rfc8785.dumps(chained)).hexdigest()


def seal(head: AuditChain, key: str | bytes | None = None) -> str:
    """What binds this head to the secret key of the site."""
    bound = f"{head.number}:{head.digest}:{head.first}:{head.anchor}"
    return salted_hmac(_SEAL, bound, secret=key, algorithm="sha256").hexdigest()


def holds(head: AuditChain) -> bool:
    """Whether the head is sealed, with the key of now or one that counts beside it."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return any(constant_time_compare(head.seal, seal(head, key)) for key in keys)
