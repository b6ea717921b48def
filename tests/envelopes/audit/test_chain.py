"""The hash chain: whatever is done to the table behind the application's back is told, by the entry it was done to."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from envelopes import audit
from envelopes.approvals.service import decide
from envelopes.audit.guards import statements
from envelopes.audit.verifying import ranges, ranges_of, verify
from envelopes.models import Approval, AuditChain, AuditEntry
from envelopes.models.audit import AppendOnly
from tests import factories

pytestmark = pytest.mark.django_db

TABLE = "envelopes_auditentry"
MOVED_BACK = (
    "DELETE FROM envelopes_auditentry WHERE number = 6;"
    "UPDATE envelopes_auditchain SET number = 5, digest ="
    " (SELECT chain_digest FROM envelopes_auditentry WHERE number = 5)"
)


@pytest.fixture(autouse=True)
def _actor() -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


@pytest.fixture
def six() -> list[AuditEntry]:
    """Three conversations in which something was asked and denied."""
    for _ in range(3):
        ada = factories.make_principal(factories.make_user())
        decide(factories.make_approval(factories.make_session(ada)).approval_id, "denied", ada, reason="No.")
    return list(AuditEntry.objects.order_by("number"))


@pytest.fixture
def unguarded() -> None:
    """The table without its triggers, as somebody has it who owns the database."""
    with connection.cursor() as cursor:
        for text in statements(connection.vendor):
            if text.startswith("DROP"):
                cursor.execute(text)


def run(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def test_a_chain_that_nobody_touched_holds(six: list[AuditEntry]) -> None:
    verdict = verify()

    assert [entry.number for entry in six] == [1, 2, 3, 4, 5, 6]
    assert len({entry.salt for entry in six}) == 6
    assert (verdict.problem, verdict.number, verdict.digest) == ("", 6, six[-1].chain_digest)
    assert verify((4, six[3].chain_digest)).problem == ""


def test_an_empty_log_holds() -> None:
    assert verify().problem == ""


@pytest.mark.usefixtures("unguarded")
@pytest.mark.parametrize(
    ("done", "broken"),
    [
        pytest.param("UPDATE {t} SET reason = 'Yes.' WHERE number = 4", 4, id="content"),
        pytest.param("UPDATE {t} SET who = 'user:1' WHERE number = 4", 4, id="who"),
        pytest.param("UPDATE {t} SET kind = 'expired' WHERE number = 4", 4, id="kind"),
        pytest.param("""UPDATE {t} SET facts = '{{"decision": "granted"}}' WHERE number = 4""", 4, id="facts"),
        pytest.param("UPDATE {t} SET chain_digest = salt WHERE number = 6", 6, id="digest"),
        pytest.param("DELETE FROM {t} WHERE number = 3", 3, id="deleted"),
        pytest.param("DELETE FROM {t} WHERE number = 1", 1, id="deleted-first"),
        pytest.param("DELETE FROM {t} WHERE number >= 5", 5, id="truncated"),
        pytest.param("DELETE FROM {t}", 1, id="emptied"),
        pytest.param(
            "UPDATE {t} SET number = 9 WHERE number = 2; UPDATE {t} SET number = 2 WHERE number = 3;"
            "UPDATE {t} SET number = 3 WHERE number = 9",
            2,
            id="reordered",
        ),
        pytest.param(
            "UPDATE {t} SET number = number + 100 WHERE number > 2;"
            "INSERT INTO {t} (number, kind, approval_id, session_id, at, role, door, facts, who, name, reason, digest,"
            " details, salt, content_digest, chain_digest) SELECT 3, kind, approval_id, session_id, at, role, door,"
            " facts, who, name, reason, digest, details, salt, content_digest, chain_digest FROM {t} WHERE number = 1;"
            "UPDATE {t} SET number = number - 99 WHERE number > 100",
            3,
            id="inserted",
        ),
        pytest.param(
            "UPDATE {t} SET who = '', name = '', reason = '', digest = '', details = '{{}}', salt = ''"
            " WHERE number = 4",
            4,
            id="emptied-without-a-record",
        ),
        pytest.param(MOVED_BACK, 0, id="head-moved-back"),
        pytest.param("DELETE FROM envelopes_auditchain", 0, id="head-deleted"),
    ],
)  # fmt: skip
def test_what_was_done_to_it_is_told_by_the_first_broken_entry(
    six: list[AuditEntry], done: str, broken: int
) -> None:
    for text in done.format(t=TABLE).split(";"):
        run(text)

    verdict = verify()

    assert verdict.problem
    assert verdict.broken == broken
    with pytest.raises(CommandError, match=f"Entry {broken}:" if broken else "The head"):
        call_command("beach", "verify-audit")


@pytest.mark.usefixtures("unguarded")
def test_an_append_does_not_heal_a_head_that_was_moved_back(six: list[AuditEntry]) -> None:
    for text in MOVED_BACK.split(";"):
        run(text)
    factories.make_approval(factories.make_session())

    assert AuditEntry.objects.count() == 6
    assert "not sealed" in verify().problem
    assert "not the one" in verify((6, six[5].chain_digest)).problem
    assert "expected" in verify((9, six[5].chain_digest)).problem


def test_a_new_secret_key_is_told_and_can_be_sealed_with(
    six: list[AuditEntry], settings: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    old, settings.SECRET_KEY = django_settings.SECRET_KEY, "another key of this site, long and random " * 2
    with pytest.raises(CommandError, match="SECRET_KEY_FALLBACKS"):
        call_command("beach", "verify-audit")
    settings.SECRET_KEY_FALLBACKS = [old]
    assert verify().problem == ""
    settings.SECRET_KEY_FALLBACKS = []

    call_command("beach", "verify-audit", "--seal")

    assert verify().problem == ""
    assert f"6 {six[-1].chain_digest}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change",
    [
        lambda: AuditEntry.objects.update(reason=""),
        lambda: AuditEntry.objects.all().delete(),
        lambda: AuditEntry.objects.bulk_update(list(AuditEntry.objects.all()), ["reason"]),
        lambda: AuditEntry.objects.bulk_create([AuditEntry(number=1)], ignore_conflicts=True),
        lambda: AuditEntry.objects.create(number=9, kind="decided"),
        lambda: AuditEntry.objects.update_or_create(number=1, defaults={"reason": ""}),
        lambda: AuditEntry.objects.filter(number=1)[0].save(update_fields=["reason"]),
        lambda: AuditEntry.objects.filter(number=1)[0].delete(using="default"),
        lambda: AuditEntry._base_manager.filter(number=1).update(reason=""),
    ],
)
def test_the_orm_adds_only(six: list[AuditEntry], change: Callable[[], object]) -> None:
    before = list(AuditEntry.objects.values())

    with pytest.raises(AppendOnly), transaction.atomic():
        change()

    assert list(AuditEntry.objects.values()) == before


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE {t} SET reason = 'Yes.' WHERE number = 4",
        "UPDATE {t} SET salt = '' WHERE number = 4",
        "UPDATE {t} SET kind = 'expired', who = '', name = '', reason = '', digest = '', details = '{{}}', salt = ''",
        "DELETE FROM {t} WHERE number = 1",
        "DELETE FROM {t}",
    ],
)
def test_the_database_itself_refuses_changes(six: list[AuditEntry], sql: str) -> None:
    with pytest.raises(DatabaseError, match="audit log"), transaction.atomic():
        run(sql.format(t=TABLE))

    assert verify().problem == ""


def test_no_entry_is_lost_with_the_conversation(six: list[AuditEntry]) -> None:
    session = Approval.objects.get(approval_id=six[0].approval_id).session

    session.delete()

    assert audit.history_of(six[0].approval_id)[0].words == "Asked by Billing, attempt 1"
    assert verify().problem == ""


def test_ranges_are_read_as_they_were_written() -> None:
    assert ranges([7, 1, 2, 3, 9]) == [[1, 3], [7, 7], [9, 9]]
    assert ranges_of([[1, 3], [7, 7], "x", [1], [1, "2"]]) == [(1, 3), (7, 7)]
    assert ranges_of({"a": 1}) == []


DECIDING = """
import os
import sys
import django
django.setup()
from django.db import connections
connections["default"].settings_dict["NAME"] = os.environ["TEST_DATABASE"]
from envelopes import access, audit
from envelopes.approvals.service import decide
from envelopes.errors import BeachError
from django.contrib.auth.models import User
from tests import factories
from envelopes.models import Approval
who = access.principal(User.objects.get(username="ada"), None)
sys.stdin.readline()
with factories.acting(factories.make_tool()):
    for approval in Approval.objects.filter(approval_id__in=sys.argv[1].split(",")):
        audit.shown(approval, who, "chat")
        try:
            decide(approval.approval_id, "denied", who)
        except BeachError as error:
            print(error.code)
"""


@pytest.mark.django_db(transaction=True)
def test_the_chain_stays_whole_while_two_processes_decide_the_same() -> None:
    ada = factories.make_principal(factories.make_user("ada"))
    asked = [factories.make_approval(factories.make_session(ada), {"order": str(n)}) for n in range(12)]
    environ = {**os.environ, "TEST_DATABASE": str(connection.settings_dict["NAME"])}
    ids = [approval.approval_id for approval in asked]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", DECIDING, ",".join(ids)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
            cwd=django_settings.BASE_DIR,
        )
        for _ in range(2)
    ]

    said = [process.communicate("go\n", 120)[0].split() for process in processes]

    assert [process.returncode for process in processes] == [0, 0]
    assert sum(map(len, said)) == 12 and set(said[0] + said[1]) == {"already_decided"}
    entries = AuditEntry.objects.all()
    assert entries.filter(kind="decided").count() == 12 and entries.filter(kind="refused").count() == 12
    # At most one each: a process that comes to a question that is decided shows it to nobody.
    assert entries.filter(kind="shown").count() == 12
    verdict = verify()
    assert (verdict.problem, verdict.number) == ("", entries.count())
    assert AuditChain.objects.get().number == entries.count()


def test_an_entry_is_not_replaced_by_an_insertion(six: list[AuditEntry]) -> None:
    names = [field.column for field in AuditEntry._meta.concrete_fields]
    values = ", ".join("'x'" if name == "role" else name for name in names)
    copied = "INTO {0} ({1}) SELECT {2} FROM {0} WHERE number = 2".format(TABLE, ", ".join(names), values)  # noqa: S608 - names of our own
    sql = {
        "sqlite": f"INSERT OR REPLACE {copied}",
        "postgresql": f"INSERT {copied} ON CONFLICT (id) DO UPDATE SET role = 'x'",
    }[connection.vendor]

    with (
        pytest.raises(DatabaseError, match="not changed"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)

    assert not AuditEntry.objects.filter(role="x").exists()
