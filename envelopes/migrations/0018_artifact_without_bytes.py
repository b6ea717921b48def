from django.db import migrations, models


class Migration(migrations.Migration):
    """What 0017 has moved is dropped. Backwards the column comes back empty, for 0017 to fill."""

    dependencies = [("envelopes", "0017_artifact_bytes_moved")]

    operations = [
        migrations.AlterField("artifact", "content", models.BinaryField(default=b"")),
        migrations.RemoveField("artifact", "content"),
    ]
