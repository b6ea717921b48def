"""A question that is asked anew is mailed anew: what was looked for and sent before is about what was asked then."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def name_questions(apps: Any, schema_editor: Any) -> None:
    """What has been noticed so far counts for the question as it stands."""
    asked = apps.get_model("envelopes", "Approval").objects.filter(pk=OuterRef("approval_id"))
    notices = apps.get_model("envelopes", "ApprovalNotice").objects
    notices.update(asked_as=Subquery(asked.values("approval_id")[:1]))


def nothing(apps: Any, schema_editor: Any) -> None:
    """The names go with their column."""


class Migration(migrations.Migration):

    dependencies = [
        ("envelopes", "0034_desk"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterModelOptions(name="approvalnotice", options={"ordering": ["pk"]}),
        migrations.RemoveConstraint(model_name="approvalmail", name="approval_mailed_once"),
        migrations.AddConstraint(
            model_name="approvalmail",
            constraint=models.UniqueConstraint(
                fields=("approval", "asked_as", "user"), name="approval_mailed_once"
            ),
        ),
        migrations.AlterField(
            model_name="approvalnotice",
            name="approval",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="notices", to="envelopes.approval"
            ),
        ),
        migrations.AddField(
            model_name="approvalnotice",
            name="asked_as",
            field=models.CharField(default="", max_length=32),
            preserve_default=False,
        ),
        migrations.RunPython(name_questions, nothing),
        migrations.AddConstraint(
            model_name="approvalnotice",
            constraint=models.UniqueConstraint(
                fields=("approval", "asked_as"), name="approval_noticed_once"
            ),
        ),
    ]
