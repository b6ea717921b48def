"""What makes what is known of a conversation outdated without a row in its log: its owner's name or address changes,
they sign in, or are no more."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.signals import post_save, pre_delete
from django.dispatch import receiver

from envelopes.models import ConversationFacts, Participant
from envelopes.models.searched import STALE

_IS_NAMED_BY = frozenset({"username", "first_name", "last_name", "email"})


@receiver(post_save, sender=settings.AUTH_USER_MODEL, dispatch_uid="beach_search_name")
def _renamed(sender: Any, instance: Any, created: bool, update_fields: Any = None, **kwargs: Any) -> None:
    named = {*_IS_NAMED_BY, sender.USERNAME_FIELD, sender.get_email_field_name()}
    if not created and (update_fields is None or not named.isdisjoint(update_fields)):
        _outdate(ConversationFacts.objects.filter(owner=f"user:{instance.pk}"))


@receiver(pre_delete, sender=settings.AUTH_USER_MODEL, dispatch_uid="beach_search_gone")
def _gone(sender: Any, instance: Any, **kwargs: Any) -> None:
    _outdate(ConversationFacts.objects.filter(owner=f"user:{instance.pk}"))


@receiver(user_logged_in, dispatch_uid="beach_search_adopted")
def _adopted(sender: Any, user: Any, **kwargs: Any) -> None:
    """Connected after what adopts their conversations."""
    key = f"user:{user.pk}"
    mine = Participant.objects.filter(role=Participant.Role.OWNER, user=user).values("session")
    _outdate(ConversationFacts.objects.filter(session__in=mine).exclude(owner=key))


def _outdate(found: QuerySet[ConversationFacts]) -> None:
    """Have these made anew. Locked first, in the order in which ``indexing`` stores several in one transaction: in any
    other, each could have what the other waits for."""
    with transaction.atomic():
        list(found.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
        found.update(seq=STALE)
