from __future__ import annotations

from django.db import models

from envelopes.models.ids import public_id
from envelopes.models.session import Session


class Artifact(models.Model):
    """A file that belongs to a session; ``artifact`` parts refer to it by ``artifact_id``. Its bytes are in the storage
    of files, in pieces: one, or as many as it was written in.

    ``owner`` is who wrote it, and alone may go on writing: an actor's name, or the key of a principal. ``writes``
    counts its writes; ``is_whole`` once the last one has come, and only then ``sha256`` is that of all its bytes.
    ``width`` and ``height`` are those of a picture that pages may show, 0 of anything else. ``is_unnamed`` as long as
    it waits for a message that shows it.
    """

    artifact_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="artifacts")
    owner = models.CharField(max_length=128, blank=True)
    name = models.CharField(max_length=200)
    mime_type = models.CharField(max_length=128)
    size_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64, blank=True)
    writes = models.PositiveIntegerField(default=1)
    is_whole = models.BooleanField(default=True)
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)
    is_unnamed = models.BooleanField(default=False, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "file"
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["created_at"], name="artifact_unnamed", condition=models.Q(is_unnamed=True))
        ]

    def __str__(self) -> str:
        return self.name


class ArtifactPiece(models.Model):
    """Bytes of a file, as one write brought them. ``number`` is that of the write, so pieces stand in its order;
    ``file`` is where they are in the storage, written before this row and never changed."""

    artifact = models.ForeignKey(Artifact, on_delete=models.CASCADE, related_name="pieces")
    number = models.PositiveIntegerField()
    file = models.CharField(max_length=200, unique=True)
    size_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)

    class Meta:
        ordering = ["artifact_id", "number"]
        constraints = [models.UniqueConstraint(fields=["artifact", "number"], name="artifact_piece_once")]

    def __str__(self) -> str:
        return self.file
