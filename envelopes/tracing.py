"""Spans for OpenTelemetry: what somebody does (``beach.intake``), a runner's work on a turn (``beach.turn``), each
request to a model (``beach.model``) and each run of a tool (``beach.tool``) in it.

Through the API alone: without an SDK and an exporter, which whoever deploys brings along, they cost next to nothing.
Numbers and names only; nothing of what was said.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span, StatusCode


@contextmanager
def span(name: str, **facts: str | int) -> Iterator[Span]:
    """A span, within the one that is open here, with ``facts`` as attributes under ``beach.``. What is raised in it is
    named by its type: its words may be somebody's."""
    attributes = {f"beach.{key}": value for key, value in facts.items()}
    # Asked for each time: an application sets its provider up when it likes.
    tracer = trace.get_tracer("envelopes")
    with tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as opened:
        try:
            yield opened
        except BaseException as error:
            opened.set_status(StatusCode.ERROR, type(error).__name__)
            raise
