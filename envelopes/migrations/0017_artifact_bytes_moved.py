"""Moves the bytes of files out of the database into the storage that BEACH_ARTIFACT_STORAGE names.

Each file is a transaction of its own, and one that has been moved is left alone: a run that is interrupted is gone on
with by the next. Backwards the bytes go into the database again, and their files go.
"""

import hashlib
import secrets

from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import migrations, transaction

from envelopes.conf import conf


def _storage():
    return storages[conf.BEACH_ARTIFACT_STORAGE]


def to_storage(apps, schema_editor):
    Artifact = apps.get_model("envelopes", "Artifact")
    ArtifactPiece = apps.get_model("envelopes", "ArtifactPiece")
    alias, storage = schema_editor.connection.alias, _storage()
    todo = Artifact.objects.using(alias).filter(pieces=None).order_by("pk")
    for pk in list(todo.values_list("pk", flat=True)):
        artifact = Artifact.objects.using(alias).select_related("session").get(pk=pk)
        content = bytes(artifact.content)
        digest = hashlib.sha256(content).hexdigest()
        # First the bytes, then the row: one that is left over is found by `manage.py beach artifacts`.
        name = storage.save(f"{artifact.session.public_id}/{secrets.token_hex(16)}", ContentFile(content))
        with transaction.atomic(using=alias):
            ArtifactPiece.objects.using(alias).create(
                artifact=artifact, number=1, file=name, size_bytes=len(content), sha256=digest
            )
            artifact.sha256, artifact.owner = digest, artifact.owner or artifact.session.actor
            artifact.save(using=alias, update_fields=["sha256", "owner"])


def to_database(apps, schema_editor):
    Artifact = apps.get_model("envelopes", "Artifact")
    alias, storage = schema_editor.connection.alias, _storage()
    for pk in list(Artifact.objects.using(alias).exclude(pieces=None).order_by("pk").values_list("pk", flat=True).distinct()):
        artifact = Artifact.objects.using(alias).get(pk=pk)
        files = list(artifact.pieces.order_by("number").values_list("file", flat=True))
        content = b""
        for file in files:
            with storage.open(file) as opened:
                content += opened.read()
        with transaction.atomic(using=alias):
            artifact.content = content
            artifact.save(using=alias, update_fields=["content"])
            artifact.pieces.all().delete()
        for file in files:
            storage.delete(file)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("envelopes", "0016_artifact_pieces")]

    operations = [migrations.RunPython(to_storage, to_database)]
