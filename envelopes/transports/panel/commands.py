"""What people do at a page: each frame with an effect, and what takes it in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envelopes import artifacts, intake
from envelopes.access import Principal
from envelopes.database_threads import in_session
from envelopes.delivery.catching_up import Changed
from envelopes.errors import Forbidden, NotFound
from envelopes.models import Session
from envelopes.transports.panel import frames
from envelopes.transports.panel.identity import Admission, acting, acting_at_once, check_visible
from envelopes.types import JsonObject

Command = frames.Message | frames.Edit | frames.Action | frames.Show | frames.Stop | frames.Decide


def _message(session: Session, who: Principal, frame: frames.Message) -> JsonObject:
    # A page names files; what a part says of them is looked up (R2).
    parts = [artifacts.reference(session, name) for name in frame.files]
    return intake.post_message(session, who, frame.id, frame.text, parts=parts)


_TAKEN_BY: dict[type[Command], Callable[[Session, Principal, Any], JsonObject]] = {
    frames.Message: _message,
    frames.Action: lambda session, who, frame: intake.post_action(session, who, frame.id, frame.target),
    frames.Stop: lambda session, who, frame: intake.stop(session, who, frame.id),
    frames.Decide: lambda session, who, frame: intake.post_decision(
        session, who, frame.id, frame.approval, frame.decision, reason=frame.reason, sent=frame.model_extra
    ),
}
"""In the database's thread."""


async def run(scope: Any, admission: Admission, frame: Command) -> JsonObject:
    """Do what ``frame`` says, and return what its acknowledgement tells.

    Who asks is looked up anew each time. Whether they may is asked where it has its effect, under the session's lock;
    only where that says no, what else they may. Raises ``Changed``, and what intake raises.
    """
    session = admission.session
    match frame:
        case frames.Edit() | frames.Show():
            who = acting_at_once(scope, admission)
            if who is None:
                who = await in_session(session.pk, acting, scope, admission)
        case _:
            return await in_session(session.pk, _run, scope, admission, frame)
    try:
        if isinstance(frame, frames.Show):
            return await intake.show(session, who, frame.id, frame.target)
        return await intake.edit(session, who, frame.id, frame.target, frame.value)
    except (Forbidden, NotFound) as error:
        await in_session(session.pk, _check_refused, who, admission, error)
        raise


def _run(scope: Any, admission: Admission, frame: Command) -> JsonObject:
    who = acting(scope, admission)
    try:
        return _TAKEN_BY[type(frame)](admission.session, who, frame)
    except (Forbidden, NotFound) as error:
        _check_refused(who, admission, error)
        raise


def _check_refused(who: Principal, admission: Admission, error: Forbidden | NotFound) -> None:
    """Raises ``Changed`` where ``error`` says that it is not any more as when they were let in."""
    if admission.owns and isinstance(error, Forbidden):
        # An owner may do all of this: it is the owner that has changed.
        raise Changed from error
    check_visible(who, admission)
