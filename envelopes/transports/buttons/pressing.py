"""A press, from who it was to a decision. Every one is answered with what came of it; those of people whom nobody knows
here are refused, and logged."""

from __future__ import annotations

import logging
from typing import NamedTuple

from django.utils.translation import gettext as _

from envelopes.access import Principal, principal
from envelopes.approvals import rights
from envelopes.approvals.exactly import AlreadyUsed, QuestionChanged, decide_exactly, turn_away
from envelopes.approvals.links import wants_login
from envelopes.errors import AlreadyDecided, Expired, Forbidden, NotFound
from envelopes.models import Approval, ApprovalVersion
from envelopes.nonces import DatabaseNonces
from envelopes.transports.buttons.people import user_of
from envelopes.transports.buttons.presses import Press

logger = logging.getLogger(__name__)


class Pressed(NamedTuple):
    """``state`` is ``decided``, ``late`` or ``refused``; ``told`` is for whoever pressed."""

    state: str
    told: str


def press(one: Press) -> Pressed:
    """Raises ``Unavailable``, and what the database does; then nothing has changed, and it may come again."""
    user = user_of(one.door, one.by)
    found = rights.find(one.question.approval_id)
    if user is None:
        return _turned_away(one, found, one.by, _("Nobody here is known by that name. Nothing was decided."))
    if found is not None and wants_login(found[0]):
        told = _("This one is decided by people who are signed in. Nothing was decided.")
        return _turned_away(one, found, principal(user, None), told)
    try:
        done = decide_exactly(
            one.question,
            one.decision,
            principal(user, None),
            source=one.door,
            reason=one.reason,
            once=lambda: DatabaseNonces(f"button-{one.door}").use(one.once, one.until),
        )
    except (AlreadyDecided, AlreadyUsed, Expired, QuestionChanged) as error:
        return _noted(one, Pressed("late", f"{error.message} {_('Your press decided nothing.')}"))
    except (Forbidden, NotFound) as error:
        return _noted(one, Pressed("refused", error.message))
    if done.state == "pending":
        return _noted(one, Pressed("decided", _("Your decision is recorded. Others still have to decide.")))
    told = _("Denied. Nothing ran.") if one.decision == "denied" else _("Approved. It will run once.")
    return _noted(one, Pressed("decided", told))


def _turned_away(
    one: Press, found: tuple[Approval, ApprovalVersion | None] | None, who: Principal | str, told: str
) -> Pressed:
    if found is not None:
        turn_away(found[0], who, one.decision, told, source=one.door, reason=one.reason)
    return _noted(one, Pressed("refused", told))


def _noted(one: Press, done: Pressed) -> Pressed:
    level = logging.INFO if done.state == "decided" else logging.WARNING
    about = (one.question.approval_id, one.door, one.by[:128], done.state, done.told)
    logger.log(level, "A press about approval %s from %s, by %r, was %s: %s", *about)
    return done
