from __future__ import annotations

from django.db import models

from envelopes.models.session import Session


class TemplateSurface(models.Model):
    """What a surface template has made of the data of a slot: ``data`` is all of that, ``made`` the body of the
    ``createSurface`` message that shows it. Later data is merged into the one, and changes what differs in the other.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="template_surfaces")
    owner = models.CharField(max_length=128)
    surface_id = models.CharField(max_length=192)
    kind = models.CharField(max_length=128)
    data = models.JSONField()
    made = models.JSONField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["session", "owner", "surface_id"], name="template_surface_once")
        ]

    def __str__(self) -> str:
        return f"{self.surface_id} of {self.owner}"
