"""Groups for the three roles of staff. One that is there already, or was changed since, stays as it is."""

from __future__ import annotations

from typing import Any

from django.db import migrations

READS = (
    "view_session", "view_turn", "view_toolcall", "view_approval", "view_artifact", "view_agentcall", "view_auditentry",
)  # fmt: skip
ROLES = {
    "Beach viewer": READS,
    "Beach approver": (*READS, "decide_approval"),
    "Beach operator": (*READS, "decide_approval", "operate_session", "export_session", "export_auditentry"),
}
MODELS = {
    "decide_approval": "approval",
    "operate_session": "session",
    "export_session": "session",
    "export_auditentry": "auditentry",
}
NAMES = {
    "decide_approval": "Can decide approvals",
    "operate_session": "Can take over conversations and write notes",
    "export_session": "Can export conversations",
    "export_auditentry": "Can export the audit log",
}


def make_roles(apps: Any, schema_editor: Any) -> None:
    """On a fresh database Django makes permissions behind the migrations: those that are missing are made here."""
    Group, Permission = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    ContentType = apps.get_model("contenttypes", "ContentType")
    for role, codenames in ROLES.items():
        group, is_new = Group.objects.get_or_create(name=role)
        if not is_new:
            continue
        for codename in codenames:
            model = MODELS.get(codename) or codename.removeprefix("view_")
            kind, _ = ContentType.objects.get_or_create(app_label="envelopes", model=model)
            found, _ = Permission.objects.get_or_create(
                content_type=kind, codename=codename, defaults={"name": NAMES.get(codename, f"Can view {model}")}
            )
            group.permissions.add(found)


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
        ('envelopes', '0027_audit'),
    ]

    operations = [
        migrations.RunPython(make_roles, migrations.RunPython.noop),
    ]
