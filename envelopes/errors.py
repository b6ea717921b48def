"""The one family of errors of the runtime.

Every error has a stable ``code``, a sentence for a person, facts, and says whose fault it is. The sentence
defaults to the first line of the class docstring, so a class explains itself even without arguments.
"""

from __future__ import annotations

from typing import Any, Literal

Fault = Literal["agent", "client", "configuration", "network", "us"]


class BeachError(Exception):
    """Something went wrong."""

    code: str = "error"
    fault: Fault = "us"
    passing: bool = False
    """Whether the same is likely to work when it is sent again in a while."""

    def __init__(self, message: str | None = None, **facts: Any) -> None:
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        self.facts = facts
        super().__init__(self.message)

    def as_dict(self) -> dict[str, Any]:
        """``{code, message, ...facts}``, the shape that clients, models and the log get."""
        return {"code": self.code, "message": self.message, **self.facts}


class ValidationFailed(BeachError):
    """This input isn’t in the expected form."""

    code = "VALIDATION_FAILED"
    fault = "client"


class RespondRefused(BeachError):
    """The respond() call was refused."""

    code = "VALIDATION_FAILED"
    fault = "agent"


class NotFound(BeachError):
    """There’s nothing here by that name, or it isn’t yours."""

    code = "not_found"
    fault = "client"


class Forbidden(BeachError):
    """You’re not allowed to do that."""

    code = "forbidden"
    fault = "client"


class AlreadyDecided(BeachError):
    """This approval has already been decided."""

    code = "already_decided"
    fault = "client"


class AlreadyChanged(AlreadyDecided):
    """This request has been changed since. Read it again before you decide."""

    code = "already_changed"


class Expired(BeachError):
    """This request expired before anyone decided."""

    code = "expired"
    fault = "client"


class Conflict(BeachError):
    """This conflicts with what is already stored."""

    code = "conflict"
    fault = "client"


class TooLarge(BeachError):
    """This is too large."""

    code = "too_large"
    fault = "client"


class TooOften(BeachError):
    """You’re asking too often. Try again in a while."""

    code = "too_often"
    fault = "client"
    passing = True


class TooManyMessages(TooOften):
    """You have sent too many messages for now."""

    code = "too_many_messages"
    passing = False
    """Whoever wrote it has it back, and sends it when they like: sent again by itself it would take its turn from what
    they write meanwhile."""


class DayCostReached(TooManyMessages):
    """This site has reached today’s limit for answers."""

    code = "day_cost_reached"


class PersonCostReached(TooManyMessages):
    """You have reached today’s limit for answers."""

    code = "person_cost_reached"


class AddressCostReached(TooManyMessages):
    """Guests from your address have reached today’s limit for answers."""

    code = "address_cost_reached"


class Unavailable(BeachError):
    """This cannot be saved at the moment. It will be sent again automatically."""

    code = "unavailable"
    fault = "network"
    passing = True


class Crowded(Unavailable):
    """The server has too much open at the moment. Try again in a while."""


class TransitionRefused(BeachError):
    """That change of state is not allowed."""

    code = "transition_refused"
    fault = "us"

    def __init__(self, machine: str, *, got: str, to: str, expected: tuple[str, ...]) -> None:
        allowed = ", ".join(expected) or "nothing"
        super().__init__(
            f"{machine} cannot go from {got} to {to}; from {got} it may go to {allowed}.",
            machine=machine,
            got=got,
            to=to,
            expected=list(expected),
        )


class LeaseLost(BeachError):
    """Another runner carries this turn on; nothing was written."""

    code = "lease_lost"


class RegistrationError(BeachError):
    """This cannot be registered."""

    code = "registration_refused"
    fault = "configuration"


class ToolFailed(BeachError):
    """The tool could not complete the request."""

    code = "tool_failed"
    fault: Fault = "network"


class ProviderError(BeachError):
    """The model did not answer."""

    code = "provider_failed"
    fault = "network"

    def __init__(self, message: str | None = None, *, retryable: bool = False, **facts: Any) -> None:
        super().__init__(message, retryable=retryable, **facts)
        self.retryable = retryable
