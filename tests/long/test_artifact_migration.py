"""Files in the database move into the storage, and back: on SQLite and PostgreSQL, and also when interrupted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import needs, nursery

BEFORE, ADDED, AFTER = (
    "0012_agent_calls",
    "0016_artifact_pieces",
    "0018_artifact_without_bytes",
)

MIGRATIONS = {BEFORE, ADDED, AFTER}

TO = """
from django.core.management import call_command
call_command("migrate", "envelopes", "{name}", verbosity=0)
"""

NEWEST = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
"""

FILES = {"a": b"first", "b": b"", "c": bytes(range(256)) * 100}

STORE = """
from django.apps import apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
models = MigrationExecutor(connection).loader.project_state([("envelopes", "0012_agent_calls")]).apps
Session, Artifact = models.get_model("envelopes", "Session"), models.get_model("envelopes", "Artifact")
session = Session.objects.create(public_id="s" * 26, actor="sally")
for name, content in {files!r}.items():
    about = {{"name": name, "mime_type": "a/b", "size_bytes": len(content)}}
    Artifact.objects.create(artifact_id=name * 26, session=session, content=content, **about)
"""

READ = """
from envelopes import artifacts
from envelopes.models import Artifact
for file in Artifact.objects.order_by("artifact_id"):
    assert artifacts.read(file.session_id, file.artifact_id)[2] == {files!r}[file.name], file.name
    assert file.owner == "sally" and len(file.sha256) == 64 and file.is_whole
print(Artifact.objects.count(), artifacts.sweep(delete=False))
"""

READ_BEFORE = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT name, content FROM envelopes_artifact")
    assert {{name: bytes(content) for name, content in cursor.fetchall()}} == {files!r}
"""

BREAK = """
from django.core.files.storage import FileSystemStorage
from envelopes.artifacts.storing import storage
from django.core.management import call_command
saved, count = FileSystemStorage.save, 0
def save(self, *given, **more):
    global count
    count += 1
    if count == 2:
        raise OSError("The disk is full.")
    return saved(self, *given, **more)
FileSystemStorage.save = save
try:
    call_command("migrate", "envelopes", "0017_artifact_bytes_moved", verbosity=0)
except OSError:
    print("broken off")
"""


class Site:
    """A database and a storage, with commands of another process."""

    def __init__(self, data: Path, url: str) -> None:
        self.data = data
        self._environ = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "beachsite.settings.local",
            "BEACH_DATA": str(data),
            "DATABASE_URL": url,
            "BEACH_NO_BOOTSTRAP": "1",
        }

    def run(self, *steps: str) -> str:
        """Code, and names of migrations to go to, in one process after the other; what they print."""
        code = "".join(
            TO.format(name=step) if step in MIGRATIONS else step.format(files=FILES) for step in steps
        )
        done = nursery.run(["shell", "-v", "0", "-c", code], self._environ)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def files(self) -> list[Path]:
        return [each for each in (self.data / "artifacts").rglob("*") if each.is_file()]


@pytest.fixture(params=["sqlite", "postgres"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    if request.param == "postgres":
        needs.postgres()
    return Site(tmp_path, request.getfixturevalue("postgres_url") if request.param == "postgres" else "")


def test_files_move_out_of_the_database_and_back_and_an_interrupted_move_goes_on(site: Site) -> None:
    assert "broken off" in site.run(BEFORE, STORE, ADDED, BREAK)
    assert len(site.files) == 1
    assert "3 Sweep(orphans=0, removed=0, lost=[])" in site.run(AFTER, NEWEST, READ)
    assert len(site.files) == 3
    site.run(BEFORE, READ_BEFORE)
    assert site.files == []
    assert "3 Sweep" in site.run(AFTER, NEWEST, READ)
