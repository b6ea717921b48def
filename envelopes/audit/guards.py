"""Triggers of the database that hold the audit log against changes past the ORM.

They are about shape, so erasure and retention need no switch that others could use: an update may only empty the
personal fields of an entry, salt included, and a delete may only take entries before the first one that the head still
counts. They stop mistakes, and whoever has no right to drop a trigger; what others do, ``verify`` tells.

SQLite loses the triggers of a table that is made anew: a later migration that changes ``AuditEntry`` there runs
``install`` behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

TABLE = "envelopes_auditentry"
KEPT = (
    "number", "kind", "approval_id", "session_id", "at", "role", "door", "facts", "content_digest", "chain_digest",
)  # fmt: skip
EMPTIED = {"who": "", "name": "", "reason": "", "digest": "", "salt": "", "details": "{}"}

_TAKEN = "(SELECT 1 FROM envelopes_auditentry WHERE id = NEW.id OR number = NEW.number)"
_FIRST = "(SELECT first FROM envelopes_auditchain WHERE id = 1)"

_POSTGRES = (
    """
CREATE OR REPLACE FUNCTION beach_audit_guard() RETURNS trigger LANGUAGE plpgsql AS $guard$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.number >= {first} THEN
      RAISE EXCEPTION 'entries of the audit log are not deleted' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
  END IF;
  IF NOT ({erasure}) THEN
    RAISE EXCEPTION 'entries of the audit log are not changed' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $guard$""",
    f"DROP TRIGGER IF EXISTS beach_audit_guard ON {TABLE}",
    (
        f"CREATE TRIGGER beach_audit_guard BEFORE UPDATE OR DELETE ON {TABLE}"
        " FOR EACH ROW EXECUTE FUNCTION beach_audit_guard()"
    ),
)

_SQLITE = (
    "DROP TRIGGER IF EXISTS beach_audit_update",
    (
        f"CREATE TRIGGER beach_audit_update BEFORE UPDATE ON {TABLE} WHEN NOT ({{erasure}})"
        " BEGIN SELECT RAISE(ABORT, 'entries of the audit log are not changed'); END"
    ),
    "DROP TRIGGER IF EXISTS beach_audit_delete",
    (
        f"CREATE TRIGGER beach_audit_delete BEFORE DELETE ON {TABLE} WHEN OLD.number >= {{first}}"
        " BEGIN SELECT RAISE(ABORT, 'entries of the audit log are not deleted'); END"
    ),
    "DROP TRIGGER IF EXISTS beach_audit_replace",
    (
        # REPLACE deletes without asking the trigger above.
        f"CREATE TRIGGER beach_audit_replace BEFORE INSERT ON {TABLE} WHEN EXISTS {_TAKEN}"
        " BEGIN SELECT RAISE(ABORT, 'entries of the audit log are not changed'); END"
    ),
)


def statements(vendor: str) -> Sequence[str]:
    """What makes the triggers on ``postgresql`` or ``sqlite``, in place of those that are there."""
    is_postgres = vendor == "postgresql"
    same = "{0} IS NOT DISTINCT FROM {1}" if is_postgres else "{0} IS {1}"
    kept = [same.format(f"NEW.{name}", f"OLD.{name}") for name in ("id", *KEPT)]
    emptied = [f"NEW.{name} = '{value}'" for name, value in EMPTIED.items()]
    values = {"first": _FIRST, "erasure": " AND ".join([*kept, *emptied])}
    return [text.format(**values) for text in (_POSTGRES if is_postgres else _SQLITE)]


def install(apps: Any, schema_editor: Any) -> None:
    """For ``migrations.RunPython``."""
    for text in statements(schema_editor.connection.vendor):
        schema_editor.execute(text, params=None)


def remove(apps: Any, schema_editor: Any) -> None:
    """The way back. On SQLite the triggers go with their table."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP TRIGGER IF EXISTS beach_audit_guard ON {TABLE}", params=None)
        schema_editor.execute("DROP FUNCTION IF EXISTS beach_audit_guard()", params=None)
