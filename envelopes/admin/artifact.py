"""Artifacts: what there is, never what is in it."""

from __future__ import annotations

from django.contrib import admin
from django.template.defaultfilters import filesizeformat
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from envelopes.admin.display import DASH, link
from envelopes.admin.newest import NewestFirstAdmin
from envelopes.desk.times import moment
from envelopes.markup.html import reveal
from envelopes.models import Artifact
from envelopes.registries.actors import agent_name


@admin.register(Artifact)
class ArtifactAdmin(NewestFirstAdmin[Artifact]):
    """Files that belong to conversations; their content is in a storage of its own."""

    list_display = ["named", "kind", "size", "made_by", "conversation", "created"]
    list_select_related = ["session"]
    search_fields = ["name", "artifact_id__startswith"]
    search_help_text = "Search name or ID"
    extra_fields = ["size"]
    runtime_fields = ["size_bytes", "sha256", "writes", "is_whole", "width", "height", "is_unnamed"]

    @admin.display(description="name")
    def named(self, artifact: Artifact) -> SafeString:
        return reveal(artifact.name)

    @admin.display(description="type")
    def kind(self, artifact: Artifact) -> SafeString:
        return reveal(artifact.mime_type)

    @admin.display(description="made by")
    def made_by(self, artifact: Artifact) -> SafeString | str:
        if not artifact.owner:
            return DASH
        kind, colon, _name = artifact.owner.partition(":")
        if not colon:
            return reveal(agent_name(artifact.owner))
        return _("Visitor") if kind in ("user", "anonymous") else _("Program")

    @admin.display(description="created")
    def created(self, artifact: Artifact) -> SafeString:
        return moment(artifact.created_at)

    @admin.display(description="size")
    def size(self, artifact: Artifact) -> str:
        return filesizeformat(artifact.size_bytes)

    @admin.display(description="conversation")
    def conversation(self, artifact: Artifact) -> SafeString:
        return link(artifact.session, str(artifact.session))
