"""What whoever runs a site sees of it: the log as JSON, and numbers for Prometheus."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from django.test import Client
from prometheus_client import REGISTRY

from envelopes import json_log
from envelopes.providers.scripted import Fail, Say, text
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


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
