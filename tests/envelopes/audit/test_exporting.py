"""The decision log as a file: whole, safe in a spreadsheet, and verifiable by whoever has it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext

from envelopes.approvals.service import decide
from envelopes.audit import ageing, chain, exporting
from envelopes.models import AuditEntry
from tests import factories
from tests.envelopes.admin.pages import client_of, text_of, url

pytestmark = pytest.mark.django_db

READS = ["view_session", "view_auditentry"]


@pytest.fixture(autouse=True)
def _actor() -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


@pytest.fixture
def entries() -> list[AuditEntry]:
    ada = factories.make_principal(factories.make_user("ada"))
    approval = factories.make_approval(factories.make_session(ada))
    decide(approval.approval_id, "denied", ada, reason='=HYPERLINK("http://evil/","x")')
    return list(AuditEntry.objects.order_by("number"))


def test_json_lines_hold_all_that_verifying_needs(entries: list[AuditEntry]) -> None:
    ageing.erase(AuditEntry.objects.filter(number=1))

    lines = [
        json.loads(line) for line in "".join(exporting.pieces(AuditEntry.objects.all(), "jsonl")).splitlines()
    ]

    assert [line["number"] for line in lines] == [1, 2, 3]
    assert [line["erased"] for line in lines] == [True, False, False]
    decided = lines[1]
    personal = {name: decided[name] for name in ("who", "name", "reason", "digest", "details")}
    assert chain.content_digest(decided["salt"], personal) == decided["contentDigest"]
    assert lines[0]["salt"] == lines[0]["name"] == ""


@pytest.mark.parametrize(
    "start",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "  =1", "\uff1d1", "\u00a0=1", "\u3000\uff20x", "\ufeff=1"],
)
def test_no_cell_is_a_formula(start: str) -> None:
    assert exporting._cell(start) == f"'{start}"
    assert exporting._cell("Go on = yes; or no - as you like") == "Go on = yes; or no - as you like"


def test_no_cell_is_one_to_a_spreadsheet_that_parts_lines_elsewhere() -> None:
    hostile = 'x;=cmd|"/C calc"!A0\t+1\n  @SUM(A1)\r-2;\uff1d3'
    assert exporting._cell(hostile) == "x;'=cmd|\"/C calc\"!A0\t'+1\n'  @SUM(A1)\r'-2;'\uff1d3"
    (row,) = csv.reader(io.StringIO(exporting._row([exporting._cell(hostile), "b"])), delimiter=";")
    assert not [cell for cell in row if cell.lstrip().startswith(("=", "+", "-", "@", "\uff1d"))]
    assert exporting._row(["a;b", "c"]) == '"a;b","c"\r\n'


def test_csv_has_a_row_for_each_entry_and_reads_as_text(entries: list[AuditEntry]) -> None:
    rows = list(csv.DictReader(io.StringIO("".join(exporting.pieces(AuditEntry.objects.all(), "csv")))))

    assert [row["kind"] for row in rows] == ["requested", "decided"]
    assert rows[1]["reason"] == '\'=HYPERLINK("http://evil/","x")'
    assert "salt" not in rows[0]


def test_a_page_of_entries_costs_one_query(entries: list[AuditEntry]) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        list(exporting.pieces(AuditEntry.objects.all(), "jsonl"))

    assert len(queries) == 1


def test_the_command_writes_a_new_file_and_overwrites_none(entries: list[AuditEntry], tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"

    call_command("beach", "export-audit", str(file))

    assert len(file.read_text(encoding="utf-8").splitlines()) == 2
    with pytest.raises(CommandError, match="there already"):
        call_command("beach", "export-audit", str(file))
    call_command(
        "beach", "export-audit", str(tmp_path / "later.csv"), "--format", "csv", "--since", "2999-01-01"
    )
    assert (tmp_path / "later.csv").read_text(encoding="utf-8").startswith('"number","at","kind"')


@pytest.mark.django_db(transaction=True)
async def test_the_page_streams_what_its_filters_show_to_whoever_may() -> None:
    from asgiref.sync import sync_to_async

    @sync_to_async
    def made() -> tuple[AsyncClient, AsyncClient]:
        ada = factories.make_principal(factories.make_user("ada"))
        approval = factories.make_approval(factories.make_session(ada))
        decide(approval.approval_id, "denied", ada, reason="No.")
        both = AsyncClient(), AsyncClient()
        for client, rights in zip(both, (READS, [*READS, "export_auditentry"]), strict=True):
            client.force_login(factories.make_user(staff=True, permissions=rights))
        return both

    reader, exporter = await made()
    address = url(AuditEntry, "export", "jsonl")

    assert (await reader.get(address)).status_code == 403
    assert (await exporter.get(url(AuditEntry, "export", "exe"))).status_code == 404
    response = await exporter.get(address, {"kind": "decided"})
    body = b"".join([piece async for piece in response.streaming_content])

    assert [json.loads(line)["kind"] for line in body.splitlines()] == ["decided"]
    assert response["Content-Disposition"].startswith("attachment")
    assert response["X-Content-Type-Options"] == "nosniff"


def test_the_history_page_says_what_happened_in_words_and_filters(entries: list[AuditEntry]) -> None:
    client: Client = client_of(factories.make_user(staff=True, permissions=READS))

    whole = text_of(client.get(url(AuditEntry, "changelist")).content)
    decided = text_of(
        client.get(url(AuditEntry, "changelist"), {"kind": "decided", "door": "chat", "day": "today"}).content
    )
    none = text_of(client.get(url(AuditEntry, "changelist"), {"day": "yesterday"}).content)

    assert "Asked by Billing, attempt 1" in whole and "Denied by ada in chat" in whole
    assert "Denied by ada in chat" in decided and "Asked by" not in decided
    assert "Denied by" not in none
    assert "Export as" not in whole


def test_nobody_changes_an_entry_through_the_admin(entries: list[AuditEntry]) -> None:
    root = client_of(factories.make_user(superuser=True))
    before = list(AuditEntry.objects.values())

    answers = [
        root.post(address, {"post": "yes", "reason": "x", "_save": "Save"}).status_code
        for address in (url(AuditEntry, "add"), url(entries[0], "change"), url(entries[0], "delete"))
    ]
    chosen = {"action": "delete_selected", "_selected_action": [entries[0].pk], "post": "yes"}
    root.post(url(AuditEntry, "changelist"), chosen)

    assert answers == [403, 403, 403]
    assert list(AuditEntry.objects.values()) == before
    assert root.get(url(entries[0], "change")).status_code == 200
