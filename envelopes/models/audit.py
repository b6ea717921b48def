from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NoReturn

from django.db import models

from envelopes.types import JsonObject


class AppendOnly(TypeError):
    """The audit log is only ever added to."""


class AuditKind(StrEnum):
    """What an entry records."""

    REQUESTED = "requested"
    SHOWN = "shown"
    NOTIFIED = "notified"
    EDITED = "edited"
    DECIDED = "decided"
    REUSED = "reused"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    REFUSED = "refused"
    """Somebody tried to decide who came too late or was not allowed to."""
    EXECUTED = "executed"
    """The approved call has ended, or staff found out how it had."""
    ERASED = "erased"
    """The personal content of earlier entries was erased; ``facts`` names them."""
    PRUNED = "pruned"
    """The oldest entries were deleted; ``facts`` has the last of them, by number and digest."""


PERSONAL = ("who", "name", "reason", "digest", "details")
"""The fields of an entry that may tell of a person: under the salt, and the ones that are erased."""


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    """Reads and adds. What would change or delete raises ``AppendOnly``."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise AppendOnly("Entries of the audit log are never changed.")

    def delete(self) -> NoReturn:
        raise AppendOnly("Entries of the audit log are never deleted.")

    def bulk_update(self, objs: Iterable[AuditEntry], fields: Any, batch_size: int | None = None) -> NoReturn:
        raise AppendOnly("Entries of the audit log are never changed.")

    def bulk_create(self, objs: Iterable[AuditEntry], *args: Any, **kwargs: Any) -> list[AuditEntry]:
        if args or kwargs:
            raise AppendOnly("Entries of the audit log are only added, one after the other.")
        return super().bulk_create(objs)


class AuditEntry(models.Model):
    """One thing that happened to an approval. Written once, in the transaction of what it records.

    ``number`` counts all entries of the site from 1 without gaps. ``approval_id`` and ``session_id`` are public ids and
    no references: an entry outlives what it tells of. ``facts`` tell of nobody, such as attempt, decision and outcome.
    What may is in ``PERSONAL``: ``who`` (``Principal.key``), the ``name`` at that time, ``reason``, the ``digest`` of
    the call, ``details``. ``content_digest`` is made of these and ``salt``, ``chain_digest`` of everything else and the
    entry before (``audit.chain``). An empty ``salt`` says that the personal content was erased.
    """

    number = models.BigIntegerField(unique=True)
    kind = models.CharField(max_length=16, choices=[(str(kind), str(kind)) for kind in AuditKind])
    approval_id = models.CharField(max_length=32, blank=True)
    session_id = models.CharField(max_length=32, blank=True)
    at = models.DateTimeField()
    role = models.CharField(max_length=64, blank=True)
    door = models.CharField(max_length=16, blank=True)
    facts = models.JSONField(default=dict)
    who = models.CharField(max_length=128, blank=True)
    name = models.CharField(max_length=150, blank=True)
    reason = models.CharField(max_length=512, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    details = models.JSONField(default=dict)
    salt = models.CharField(max_length=64, blank=True)
    content_digest = models.CharField(max_length=64)
    chain_digest = models.CharField(max_length=64)

    objects = AuditQuerySet.as_manager()

    class Meta:
        verbose_name = "history entry"
        verbose_name_plural = "history"
        ordering = ["-number"]
        base_manager_name = "objects"
        default_permissions = ("view",)
        permissions = [("export_auditentry", "Can export the audit log")]
        indexes = [
            models.Index(fields=["approval_id", "number"], name="audit_approval"),
            models.Index(fields=["session_id", "number"], name="audit_session"),
            models.Index(fields=["kind", "number"], name="audit_kind"),
            models.Index(fields=["who", "number"], name="audit_who"),
            models.Index(fields=["at"], name="audit_at"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.kind} {self.approval_id}".strip()

    def save(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises ``AppendOnly``: entries are added by ``audit.record``, which chains them."""
        raise AppendOnly("Entries of the audit log are added by audit.record alone, and never changed.")

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises ``AppendOnly``."""
        raise AppendOnly("Entries of the audit log are never deleted.")

    @property
    def personal(self) -> JsonObject:
        return {name: getattr(self, name) for name in PERSONAL}


class AuditChain(models.Model):
    """Where the chain of entries stands: one row, locked by whoever adds to it.

    ``number`` and ``digest`` are those of the newest entry. ``first`` is the number of the oldest that is kept, and
    ``anchor`` the digest of the one before it, "" where that never was one. ``seal`` binds these four to the secret key
    of the site; an empty one says that the chain had no head when it was added to.
    """

    number = models.BigIntegerField(default=0)
    digest = models.CharField(max_length=64, blank=True)
    first = models.BigIntegerField(default=1)
    anchor = models.CharField(max_length=64, blank=True)
    seal = models.CharField(max_length=64, blank=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"The audit log, entries {self.first} to {self.number}"
