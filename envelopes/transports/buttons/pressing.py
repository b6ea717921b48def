"""A press, from who it was to a decision. Every one is answered with what came of it; those of people whom nobody knows
here are refused, and logged."""

from __future__ import annotations

import logging
from typing import NamedTuple

from django.utils.translation import gettext as _

from envelopes.access import principal
from envelopes.approvals import rights
from envelopes.approvals.exactly import AlreadyUsed, QuestionChanged, decide_exactly
from envelopes.approvals.links import wants_login
from envelopes.errors import AlreadyDecided, Expired, Forbidden, NotFound
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
    if user is None:
        return _noted(one, Pressed("refused", _("Nobody here is known by that name. Nothing was decided.")))
    found = rights.find(one.question.approval_id)
    if found is not None and wants_login(found[0]):
        told = _("This one is decided by people who are signed in. Nothing was decided.")
        return _noted(one, Pressed("refused", told))
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


def _noted(one: Press, done: Pressed) -> Pressed:
    level = logging.INFO if done.state == "decided" else logging.WARNING
    about = (one.question.approval_id, one.door, one.by[:128], done.state, done.told)
    logger.log(level, "A press about approval %s from %s, by %r, was %s: %s", *about)
    return done
