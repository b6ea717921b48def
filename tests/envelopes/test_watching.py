"""What whoever runs a site sees of it: the log as JSON, and numbers for Prometheus."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test import Client
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import REGISTRY
from pydantic import BaseModel

from beachsite.suite import ROOT
from envelopes import intake, json_log, tracing
from envelopes.errors import ProviderError
from envelopes.log.read import rows_after
from envelopes.providers.port import ModelEvent, ModelRequest
from envelopes.providers.scripted import Call, Fail, Say, ScriptedProvider, text
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.types import Json
from tests.desk import Desk, desk, replies
from tests.sockets import Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)


YES = replies([Say([text("response", "Yes.")])])


class Nothing(BaseModel):
    """A tool without arguments."""


def _as_json(record: logging.LogRecord) -> Any:
    return json.loads(json_log.formatter().format(record))


async def test_a_line_about_a_turn_is_an_object_with_its_facts(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "envelopes.turns.journal")
    async with desk(
        replies([Say([text("response", "A secret answer.")])], [Fail("error", retryable=False)])
    ) as d:
        await d.say("A secret question")
        await d.say("Another")
        session = d.session.public_id

    lines = [_as_json(record) for record in caplog.records if record.name == "envelopes.turns.journal"]
    assert [line["what"] for line in lines] == [
        "started", "settled", "started", "the model failed", "failed", "settled",
    ]  # fmt: skip
    first, done, *_, failed, code, _ = lines
    assert (first["session"], first["turn"], first["actor"], first["level"]) == (session, 1, "tester", "info")
    assert (done["state"], done["steps"]) == ("complete", 1) and isinstance(done["ms"], int)
    assert done["event"].startswith("Turn 1 of session") and done["timestamp"].endswith("Z")
    assert (failed["kind"], failed["again"], failed["level"]) == ("provider_failed", "no", "warning")
    assert code["code"] == "provider_failed"
    assert "secret" not in json.dumps(lines)


def test_any_other_line_is_an_object_too_with_its_traceback() -> None:
    with pytest.raises(KeyError) as raised:
        {}["seat"]
    seen = (raised.type, raised.value, raised.tb)
    record = logging.getLogger("shop").makeRecord(
        "shop", logging.ERROR, "f", 1, "It failed for %s", ("A1",), seen
    )

    line = _as_json(record)

    assert (line["event"], line["logger"], line["level"]) == ("It failed for A1", "shop", "error")
    assert "KeyError: 'seat'" in line["exception"]


async def test_what_turns_and_models_do_is_counted() -> None:
    def value(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(name, labels) or 0.0

    before = value("beach_turns_total", actor="tester", ended="complete")
    failures = value("beach_model_failures_total", kind="provider_failed", again="no")
    async with desk(replies([Say([text("response", "Yes.")])], [Fail("error", retryable=False)])) as d:
        await d.say("One")
        await d.say("Two")

    assert value("beach_turns_total", actor="tester", ended="complete") == before + 1
    assert value("beach_model_failures_total", kind="provider_failed", again="no") == failures + 1
    assert value("beach_turn_seconds_count", actor="tester") > 0


def test_metrics_are_there_for_who_brings_the_token_and_for_nobody_else(settings: Any) -> None:
    client = Client()
    assert client.get("/metrics").status_code == 404
    settings.BEACH_METRICS_TOKEN = "t0ken"

    for header in ("", "Bearer wrong", "Basic t0ken", "t0ken"):
        assert client.get("/metrics", headers={"Authorization": header}).status_code == 401
    page = client.get("/metrics", headers={"Authorization": "Bearer t0ken"})

    assert page.status_code == 200 and page["Content-Type"].startswith("text/plain")
    assert b"beach_turns_total" in page.content


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Those that have ended."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return exporter


async def test_turns_models_and_tools_are_spans(spans: InMemorySpanExporter) -> None:
    async def look(context: ToolContext, args: Nothing) -> Json:
        return {"secret": 1}

    script = replies(
        [Call("look")], [Say([text("response", "A secret answer.")])], [Fail("error", retryable=False)]
    )
    async with desk(script, Tool("look", "Looks.", Nothing, look)) as d:
        await d.say("A secret question")
        await d.say("Another")

    found = spans.get_finished_spans()
    names = [span.name for span in found]
    assert (
        names.count("beach.intake") == 2
        and names.count("beach.turn") == 2
        and names.count("beach.model") == 3
    )
    (tool,) = [span for span in found if span.name == "beach.tool"]
    assert (tool.attributes or {})["beach.ended"] == "succeeded"
    turns = {span.context.span_id for span in found if span.name == "beach.turn"}
    inside = [span for span in found if span.name in ("beach.model", "beach.tool")]
    assert all(span.parent is not None and span.parent.span_id in turns for span in inside)
    (failed,) = [span for span in inside if not span.status.is_unset]
    assert failed.status.description == "ProviderError"
    assert "secret" not in str([(span.attributes, span.events, span.status.description) for span in found])


@pytest.mark.parametrize("what", ["model", "tool", "model that fails when it is stopped", "wait", "time"])
async def test_a_stop_is_an_outcome_of_its_own_and_no_error(
    what: str, spans: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    """In spans, in lines of the log, in numbers."""
    caplog.set_level(logging.INFO, "envelopes.turns.journal")
    begun = asyncio.Event()

    async def look(context: ToolContext, args: Nothing) -> Json:
        begun.set()
        await asyncio.Event().wait()
        return None

    class Model(ScriptedProvider):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            if what == "tool":
                async for event in super().stream(request):
                    yield event
                return
            begun.set()
            if what == "wait":
                raise ProviderError("Busy.", retryable=True, retry_after=30)
            try:
                await asyncio.Event().wait()
            finally:
                if what.startswith("model that fails"):
                    raise ProviderError("The connection broke off.", retryable=True)

    def count(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(name, labels) or 0.0

    ended = "timeout" if what == "time" else "cancelled"
    before = count("beach_turns_total", actor="tester", ended=ended)
    script = replies([Call("look")])
    async with desk(
        script, Tool("look", "Looks.", Nothing, look), provider=lambda script: Model(script, pace=0)
    ) as d:
        await d.say("Hello", wait=False)
        await asyncio.wait_for(begun.wait(), 10)
        if what == "time":
            d.runner.now = lambda: 4e9
            await d.runner._sweep_once()
        else:
            await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        await d.quiet()

    found = [
        span for span in spans.get_finished_spans() if span.name not in ("beach.intake", "beach.delivery")
    ]
    failed = {span.name for span in found if not span.status.is_unset}
    # Where the model is waited for it had failed before.
    assert failed == ({"beach.model"} if what == "wait" else set())
    word = "timeout" if what == "time" else "stopped"
    told = {span.name: (span.attributes or {}).get("beach.ended") for span in found}
    assert told["beach.turn"] == word
    assert told["beach.tool" if what == "tool" else "beach.model"] == (None if what == "wait" else word)
    lines = [_as_json(record) for record in caplog.records if record.name == "envelopes.turns.journal"]
    assert [line["what"] for line in lines if "failed" in line["what"]] == (
        ["the model failed"] if what == "wait" else ["failed"] if what == "time" else []
    )
    assert (lines[-1]["what"], lines[-1]["by"]) == ("settled", ended)
    assert count("beach_turns_total", actor="tester", ended=ended) == before + 1


async def _asked(
    spans: InMemorySpanExporter, decide: Callable[[Desk], Awaitable[object]]
) -> list[ReadableSpan]:
    """The spans of a question and of the turn that asked it, once ``decide`` has."""

    async def book(context: ToolContext, args: Nothing) -> Json:
        return {"booked": True}

    policy = ApprovalPolicy(question=lambda args: "Book the secret seat?")
    script = replies([Call("book")], [Say([text("response", "Booked.")])])
    async with desk(script, Tool("book", "Books.", Nothing, book, approval=policy)) as d:
        await d.say("Book it")
        assert not [one for one in spans.get_finished_spans() if one.name == "beach.approval"]
        await decide(d)
    return [one for one in spans.get_finished_spans() if one.name in ("beach.approval", "beach.turn")]


async def test_how_long_a_question_waited_is_a_span_of_the_trace_that_asked(
    spans: InMemorySpanExporter,
) -> None:
    approvals = []

    async def decide(d: Desk) -> None:
        approvals.append(await d.decide("granted"))

    asking, waiting, going_on = await _asked(spans, decide)

    assert (asking.name, waiting.name, going_on.name) == ("beach.turn", "beach.approval", "beach.turn")
    assert waiting.parent is not None and waiting.parent.span_id == asking.context.span_id
    assert [link.context.span_id for link in waiting.links] == [asking.context.span_id]
    (approval,) = approvals
    took = (waiting.end_time or 0) - (waiting.start_time or 0)
    assert took == pytest.approx(
        (approval.decided_at - approval.requested_at).total_seconds() * 1e9, abs=2_000
    )
    facts = {"beach.tool": "book", "beach.version": 1, "beach.ended": "granted"}
    assert waiting.attributes == facts and "secret" not in str(waiting.to_json())


DECIDES = """
import os
import sys
import django
django.setup()
from django.db import connections
connections["default"].settings_dict["NAME"] = os.environ["TEST_DATABASE"]
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
provider = TracerProvider()
lines = ConsoleSpanExporter(formatter=lambda span: span.to_json(None) + chr(10))
provider.add_span_processor(SimpleSpanProcessor(lines))
trace.set_tracer_provider(provider)
from envelopes.access import Principal
from envelopes.approvals.service import decide
decide(sys.argv[1], "denied", Principal(owner_key=sys.argv[2]))
"""


def _elsewhere(*words: str) -> list[Any]:
    """What a process of its own exports that runs ``DECIDES``."""
    environ = {**os.environ, "TEST_DATABASE": str(connection.settings_dict["NAME"])}
    ran = subprocess.run(
        [sys.executable, "-c", DECIDES, *words],
        check=False,
        env=environ,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]


async def test_another_process_that_decides_tells_of_it_in_the_same_trace(
    spans: InMemorySpanExporter,
) -> None:
    told: list[Any] = []

    async def decide(d: Desk) -> None:
        (approval,) = await d.approvals()
        told.extend(await asyncio.to_thread(_elsewhere, approval.approval_id, d.owner.owner_key))
        d.runner.wake(d.session.pk)
        await d.quiet()

    asking, _ = await _asked(spans, decide)

    (waiting,) = [span for span in told if span["name"] == "beach.approval"]
    assert waiting["context"]["trace_id"] == f"0x{asking.context.trace_id:032x}"
    assert waiting["links"][0]["context"]["span_id"] == f"0x{asking.context.span_id:016x}"
    assert waiting["attributes"]["beach.ended"] == "denied"


async def test_each_row_that_a_door_sends_is_a_span_from_its_append_on(spans: InMemorySpanExporter) -> None:
    async with panel(YES) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "A secret"})
        await socket.settled()
        await socket.caught_up()
        late = await Socket(browser, session.public_id).open()
        await socket.close()
        await late.close()
        rows = await sync_to_async(lambda: {row.seq: row.at for row in rows_after(session.pk, 0)})()

    found = [span for span in spans.get_finished_spans() if span.name == "beach.delivery"]
    sent = {frame["seq"] for frame in socket.frames if "ops" in frame}
    facts = [span.attributes or {} for span in found]
    assert {fact["beach.door"] for fact in facts} == {"panel"}
    told = [int(str(fact["beach.seq"])) for fact in facts]
    assert sorted(told) == sorted(sent), "once for who followed, and not for who came when it was there"
    for span, seq in zip(found, told, strict=True):
        assert span.start_time == int(rows[seq].timestamp() * 1_000_000) * 1_000
        assert 0 <= (span.end_time or 0) - span.start_time < 20e9


async def test_without_an_exporter_nothing_is_kept_for_spans() -> None:
    approvals = []

    async def decide(d: Desk) -> None:
        approvals.append(await d.decide("granted"))

    assert await _asked(InMemorySpanExporter(), decide) == []
    assert "trace" not in approvals[0].rule and tracing.here() == "" and not tracing.is_on()
