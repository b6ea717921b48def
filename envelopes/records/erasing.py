"""Erasing a person: their conversations with all that belongs to them, and their traces in those of others.

Each conversation goes in a transaction of its own, together with the content of its audit entries, so an erasure that
is interrupted is simply run again. What an application keeps of a conversation it erases itself
(``signals.conversation_erased``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Model, Q, QuerySet

from envelopes import search
from envelopes.access import Principal
from envelopes.audit import ageing
from envelopes.audit.recording import name_of, told_of
from envelopes.errors import NotFound, ValidationFailed
from envelopes.log.append import writing
from envelopes.models import (
    Approval,
    ApprovalVersion,
    Artifact,
    AuditEntry,
    Claim,
    ClientMessage,
    Consent,
    Decision,
    Event,
    FrozenView,
    Injection,
    Note,
    Participant,
    Session,
    Snapshot,
    ToolCall,
    Turn,
    WebhookDelivery,
)
from envelopes.models.ids import public_id
from envelopes.part_types.staff_message import STAFF, STAFF_MESSAGE
from envelopes.records.scrubbing import ERASED, Scrub, entries_naming, erase_naming
from envelopes.registries.retelling import data_of
from envelopes.signals import conversation_erased
from envelopes.turns import takeover

_SCRUBBED: tuple[tuple[type[Model], tuple[str, ...]], ...] = (
    (Event, ("data",)),
    (Turn, ("messages", "results", "trigger", "originators", "live")),
    (ToolCall, ("result", "error")),
)


@dataclass(frozen=True)
class Person:
    """``key`` is that of their ``Principal``; ``names`` what they are called anywhere."""

    key: str
    user: Any = None
    owner_key: str = ""
    names: frozenset[str] = frozenset()

    @property
    def owned(self) -> QuerySet[Participant]:
        found = Participant.objects.filter(role=Participant.Role.OWNER)
        return (
            found.filter(user=self.user) if self.user is not None else found.filter(owner_key=self.owner_key)
        )


@dataclass
class Report:
    """``erased`` counts by what it was; ``kept`` says what stays, and why."""

    erased: Counter[str] = field(default_factory=Counter)
    kept: list[str] = field(default_factory=list)


def find(text: str) -> Person:
    """The person of that user name, ``user:ID`` or ``anonymous:KEY``, as the admin and the audit log name visitors.

    Raises ``NotFound`` for nobody, ``ValidationFailed`` where several visitors have a key that begins so.
    """
    users = get_user_model()._default_manager
    kind, _, rest = text.partition(":")
    if kind == "anonymous" and re.fullmatch(r"[0-9a-f]{8,64}", rest):
        return _guest(rest)
    found = users.filter(pk=int(rest)) if kind == "user" and rest.isdecimal() else None
    user = (found if found is not None else users.filter(**{users.model.USERNAME_FIELD: text})).first()
    if user is None:
        raise NotFound(f"There is nobody called {text!r}: a user name, user:ID or anonymous:KEY.")
    who = Principal(user=user)
    names = {name_of(who), user.get_username(), user.get_short_name(), user.get_full_name()}
    names |= set(Participant.objects.filter(user=user).values_list("name", flat=True))
    return Person(who.key, user=user, names=frozenset(filter(None, names)))


def _guest(key: str) -> Person:
    guests = Participant.objects.filter(owner_key__startswith=key, user__isnull=True)
    keys = set(guests.values_list("owner_key", flat=True)[:2])
    if len(keys) > 1:
        raise ValidationFailed("Several visitors have a key that begins so: give more of it.")
    if not keys:
        raise NotFound(f"There is no visitor with the key {key!r}.")
    owner_key = keys.pop()
    names = set(guests.values_list("name", flat=True))
    return Person(
        Principal(owner_key=owner_key).key, owner_key=owner_key, names=frozenset(filter(None, names))
    )


def plan(person: Person) -> Report:
    """What ``erase`` would do now. Changes nothing."""
    report = Report()
    for pk in _owned(person):
        _count(report, Session.objects.get(pk=pk))
    elsewhere = _elsewhere(person)
    report.erased["names in other people's conversations"] = elsewhere.count()
    entries = AuditEntry.objects.filter(
        told_of(person.key, person.user) | Q(session_id__in=person.owned.values("session__public_id"))
    )
    named = sum(len(entries_naming(one, person.key, _called(person, one))) for one in elsewhere)
    report.erased["audit entries (content)"] = entries.exclude(salt="").count() + named
    report.erased["accounts"] = int(person.user is not None)
    return _explained(report, person)


def erase(person: Person) -> Report:
    """Erase; what was erased, and what stays. Raises ``ProtectedError`` where an application holds the account."""
    report = Report()
    for pk in _owned(person):
        _erase_owned(report, pk)
    for pk in list(_elsewhere(person).order_by("pk").values_list("pk", flat=True)):
        _hand_back(person, pk)
        _scrub(report, person, pk)
    with transaction.atomic():
        if person.user is not None:
            _log_out(person.user)
            person.user.delete()
            report.erased["accounts"] += 1
        report.erased["audit entries (content)"] += ageing.erase(
            AuditEntry.objects.filter(told_of(person.key, person.user))
        )
        search.compact()
    return _explained(report, person)


def erase_conversation(session_pk: int, of: QuerySet[Session] | None = None, *, audit: bool = True) -> bool:
    """Delete a conversation, and all of it; whether it was there, one ``of`` these. ``audit``: and what entries say."""
    with transaction.atomic():
        found = Session.objects.all() if of is None else of
        session = found.select_for_update().filter(pk=session_pk).first()
        if session is None:
            return False
        _delete_staff_log(session)
        WebhookDelivery.objects.filter(resource_id=session.public_id).delete()
        conversation_erased.send(sender=Session, session_id=session.public_id)
        session.delete()
        if audit:
            ageing.erase(AuditEntry.objects.filter(session_id=session.public_id))
    return True


def _owned(person: Person) -> list[int]:
    return sorted(set(person.owned.values_list("session_id", flat=True)))


def _erase_owned(report: Report, pk: int) -> None:
    session = Session.objects.filter(pk=pk).first()
    if session is None:
        return
    counted = Report()
    _count(counted, session)
    entries = AuditEntry.objects.filter(session_id=session.public_id).exclude(salt="").count()
    if erase_conversation(pk):
        report.erased += counted.erased
        report.erased["audit entries (content)"] += entries


def _count(report: Report, session: Session) -> None:
    report.erased["conversations"] += 1
    for words, rows in (
        ("events", session.events),
        ("turns", session.turns),
        ("tool calls", session.tool_calls),
        ("approvals", session.approvals),
        ("files", session.artifacts),
    ):
        report.erased[words] += rows.count()


def _delete_staff_log(session: Session) -> None:
    """Django's log names what it is about: questions, titles."""
    if not apps.is_installed("django.contrib.admin"):
        return
    from django.contrib.admin.models import LogEntry
    from django.contrib.contenttypes.models import ContentType

    for model, rows in (
        (Session, Session.objects.filter(pk=session.pk)),
        (Turn, session.turns.all()),
        (ToolCall, session.tool_calls.all()),
        (Approval, session.approvals.all()),
        (Artifact, session.artifacts.all()),
    ):
        named = [str(pk) for pk in rows.values_list("pk", flat=True)]
        kind = ContentType.objects.get_for_model(model)
        LogEntry.objects.filter(content_type=kind, object_id__in=named).delete()


# -- in conversations of others ----------------------------------------------------------------------------------


def _elsewhere(person: Person) -> QuerySet[Session]:
    """Conversations of others in which they have decided, tried to, written or seen something."""
    acted = AuditEntry.objects.filter(who=person.key).exclude(session_id="").values("session_id")
    decided = Q(approvals__decided_by=person.key) | Q(approvals__decisions__by=person.key)
    decided |= Q(approvals__earlier__by=person.key)
    if person.user is not None:
        decided |= Q(notes__user=person.user) | Q(claim__user=person.user)
        decided |= Q(approvals__mails__user=person.user)
        decided |= Q(taken_by=person.key) | Q(pk__in=_as_staff(person.key).values("session"))
    sent = ClientMessage.objects.filter(principal=person.key).values("session")
    takes_part = Participant.objects.filter(user=person.user).values("session") if person.user else ()
    found = Session.objects.filter(
        Q(public_id__in=acted) | decided | Q(pk__in=sent) | Q(pk__in=takes_part)
    ).distinct()
    return found.exclude(pk__in=person.owned.values("session"))


def _as_staff(key: str) -> QuerySet[Event]:
    """Rows in which they have taken a conversation over, handed it back or written in it."""
    return Event.objects.filter(
        Q(kind="takeover") | Q(part_type=STAFF_MESSAGE.name), actor=STAFF, data__by=key
    )


def _hand_back(person: Person, session_pk: int) -> None:
    """Nobody waits for whoever is gone."""
    if not Session.objects.filter(pk=session_pk, taken_by=person.key).exists():
        return
    with writing(session_pk) as writer:
        if writer.session.taken_by == person.key:
            takeover.hand_back(writer, ERASED, ERASED)


def _called(person: Person, session: Session) -> frozenset[str]:
    """What they are called in it: names that they had then, too."""
    told = (event.data for event in _as_staff(person.key).filter(session=session))
    names = {str(data.get("name") or data_of(data.get("part", {})).get("name") or "") for data in told}
    if person.user is not None:
        for kept in (Note, Claim):
            names |= set(
                kept.objects.filter(session=session, user=person.user).values_list("name", flat=True)
            )
    return person.names | frozenset(filter(None, names))


def _scrub(report: Report, person: Person, session_pk: int) -> None:
    """Take keys, names and reasons out of a conversation that stays. The one change that is made to rows of a log."""
    with transaction.atomic():
        session = Session.objects.select_for_update().filter(pk=session_pk).first()
        if session is None:
            return
        decided = Approval.objects.filter(session=session, decided_by=person.key)
        said = set(decided.values_list("reason", flat=True))
        entries = AuditEntry.objects.filter(session_id=session.public_id, who=person.key)
        said |= set(entries.values_list("reason", flat=True))
        voted = list(Decision.objects.filter(approval__session=session, by=person.key))
        said |= {decision.reason for decision in voted}
        scrub = Scrub(person.key, _called(person, session), frozenset(filter(None, said)))
        for model, fields in _SCRUBBED:
            _scrub_rows(model._default_manager.filter(session=session), fields, scrub)
        _scrub_rows(Injection.objects.filter(turn__session=session), ("data",), scrub)
        decided.update(decided_by=ERASED, decided_by_user=None, reason="")
        # One for each person: what stands instead differs too.
        for decision in voted:
            by = f"{ERASED} {public_id()}"
            Decision.objects.filter(pk=decision.pk).update(by=by, by_user=None, name=ERASED, reason="")
        edited = ApprovalVersion.objects.filter(approval__session=session, by=person.key)
        edited.update(by=ERASED, by_user=None, name=ERASED)
        _scrub_rows(Approval.objects.filter(session=session), ("rule",), scrub)
        _scrub_rows(ApprovalVersion.objects.filter(approval__session=session), ("rule",), scrub)
        if person.user is not None:
            Note.objects.filter(session=session, user=person.user).update(user=None, name=ERASED)
            Claim.objects.filter(session=session, user=person.user).update(user=None, name=ERASED)
        Consent.objects.filter(session=session, by=person.key).update(by=ERASED)
        Participant.objects.filter(session=session, user=person.user, user__isnull=False).delete()
        ClientMessage.objects.filter(session=session, principal=person.key).delete()
        for artifact in Artifact.objects.filter(session=session, owner=person.key):
            artifact.delete()
        # Both are made of the log, and are made again.
        Snapshot.objects.filter(session=session).delete()
        FrozenView.objects.filter(session=session).delete()
        search.forget(session)
        report.erased["audit entries (content)"] += erase_naming(session, person.key, scrub.names)
    report.erased["names in other people's conversations"] += 1


def _scrub_rows(rows: QuerySet[Any], fields: Iterable[str], scrub: Scrub) -> None:
    for row in rows.only("pk", *fields).iterator(500):
        changed = {name: new for name in fields if (new := scrub(old := getattr(row, name))) != old}
        if changed:
            rows.model._default_manager.filter(pk=row.pk).update(**changed)


# -- accounts ----------------------------------------------------------------------------------------------------


def _log_out(user: Any) -> None:
    """Delete the logins of an account, which name it in a form that no query finds."""
    if not apps.is_installed("django.contrib.sessions"):
        return
    from django.contrib.sessions.models import Session as Login

    store = import_module(settings.SESSION_ENGINE).SessionStore
    for login in Login.objects.iterator():
        if str(store().decode(login.session_data).get("_auth_user_id", "")) == str(user.pk):
            login.delete()


def _explained(report: Report, person: Person) -> Report:
    report.erased = Counter({what: count for what, count in report.erased.items() if count})
    report.kept = [
        "Audit entries: number, time, kind, role, door, outcome and random ids, so that the log can be verified.",
        "Copies elsewhere: backups, exports, webhooks that were delivered, what a model's provider was sent.",
        "What tools have done outside of this site.",
    ]
    if person.user is not None:
        report.kept.append("What they wrote or decided in other people's conversations, without their name.")
    return report
