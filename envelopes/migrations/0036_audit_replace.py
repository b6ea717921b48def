"""The triggers of the audit log anew: on SQLite, one more refuses REPLACE."""

from django.db import migrations

from envelopes.audit import guards


class Migration(migrations.Migration):

    dependencies = [
        ("envelopes", "0035_mails_of_versions"),
    ]

    operations = [
        migrations.RunPython(guards.install, migrations.RunPython.noop),
    ]
