"""Spans for OpenTelemetry: what somebody does (``beach.intake``), a runner's work on a turn (``beach.turn``), each
request to a model (``beach.model``) and each run of a tool (``beach.tool``) in it; how long a question waited for its
decision (``beach.approval``), and a row for the reader of a door (``beach.delivery``).

Through the API alone: without an SDK and an exporter, which whoever deploys brings along, they cost next to nothing.
Numbers and names only; nothing of what was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Link, NoOpTracerProvider, ProxyTracerProvider, Span, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_W3C = TraceContextTextMapPropagator()
_HEADER = "traceparent"

ENDED = "beach.ended"
STOPPED, TIMEOUT, LEFT = "stopped", "timeout", "left"
"""How what is not an error may end: somebody has stopped it, its time was up, or this process has left it to others."""

Ended = Callable[[BaseException], str]


def is_on() -> bool:
    """Whether anybody has set spans up."""
    return not isinstance(trace.get_tracer_provider(), ProxyTracerProvider | NoOpTracerProvider)


@contextmanager
def span(name: str, ended: Ended | None = None, /, **facts: str | int) -> Iterator[Span]:
    """A span, within the one that is open here, with ``facts`` as attributes under ``beach.``. What is raised in it is
    named by its type: its words may be somebody's. It is no error where ``ended`` has a word for it, which is then how
    the span has ended (``beach.ended``)."""
    # Asked each time: an application sets its provider up when it likes.
    if not is_on():
        yield INVALID_SPAN
        return
    tracer = trace.get_tracer("envelopes")
    with tracer.start_as_current_span(
        name, attributes=_named(facts), record_exception=False, set_status_on_exception=False
    ) as opened:
        try:
            yield opened
        except BaseException as error:
            if word := ended(error) if ended is not None else "":
                opened.set_attribute(ENDED, word)
            else:
                opened.set_status(StatusCode.ERROR, type(error).__name__)
            raise


def here() -> str:
    """The span that is open here, in the words of W3C Trace Context; "" where none is recorded. ``over`` takes it,
    in whichever process."""
    carrier: dict[str, str] = {}
    if trace.get_current_span().is_recording():
        _W3C.inject(carrier)
    return carrier.get(_HEADER, "")


def over(name: str, since: datetime, until: datetime, *, within: str = "", **facts: str | int) -> None:
    """A span of what is over already. ``within`` is the span that it belongs to and is linked with (``here``), which
    may have ended; "" for none. Both times have a zone."""
    if not is_on():
        return
    context = _W3C.extract({_HEADER: within}) if within else Context()
    parent = trace.get_current_span(context).get_span_context()
    links = [Link(parent)] if parent.is_valid else []
    tracer = trace.get_tracer("envelopes")
    made = tracer.start_span(
        name, context, attributes=_named(facts), links=links, start_time=_nanoseconds(since)
    )
    made.end(_nanoseconds(max(since, until)))


def delivered(door: str, since: datetime, seq: int) -> None:
    """Row ``seq``, which was written at ``since``, has been handed to the reader of a door just now."""
    if is_on():
        over("beach.delivery", since, datetime.now(UTC), door=door, seq=seq)


def _named(facts: dict[str, str | int]) -> dict[str, str | int]:
    return {f"beach.{key}": value for key, value in facts.items()}


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1_000
