"""What whoever runs a site sees of it: the log as JSON, and numbers for Prometheus."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from django.test import Client
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import REGISTRY
from pydantic import BaseModel

from envelopes import json_log
from envelopes.providers.scripted import Call, Fail, Say, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


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


async def test_turns_models_and_tools_are_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)

    async def look(context: ToolContext, args: Nothing) -> Json:
        return {"secret": 1}

    script = replies(
        [Call("look")], [Say([text("response", "A secret answer.")])], [Fail("error", retryable=False)]
    )
    async with desk(script, Tool("look", "Looks.", Nothing, look)) as d:
        await d.say("A secret question")
        await d.say("Another")

    found = exporter.get_finished_spans()
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
