from django.db import migrations, models
import django.db.models.deletion


class Migration(migrations.Migration):
    """Bytes of files go into a storage, in pieces. This adds what says where; the next one moves them, and the one
    after that drops the column that they were in."""

    dependencies = [("envelopes", "0015_turn_ends")]

    operations = [
        migrations.AddField("artifact", "owner", models.CharField(blank=True, default="", max_length=128), preserve_default=False),
        migrations.AddField("artifact", "sha256", models.CharField(blank=True, default="", max_length=64), preserve_default=False),
        migrations.AddField("artifact", "writes", models.PositiveIntegerField(default=1)),
        migrations.AddField("artifact", "is_whole", models.BooleanField(default=True)),
        migrations.AddField("artifact", "width", models.PositiveIntegerField(default=0)),
        migrations.AddField("artifact", "height", models.PositiveIntegerField(default=0)),
        migrations.CreateModel(
            name="ArtifactPiece",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("file", models.CharField(max_length=200, unique=True)),
                ("size_bytes", models.PositiveBigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("artifact", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="pieces", to="envelopes.artifact")),
            ],
            options={
                "ordering": ["artifact_id", "number"],
                "constraints": [models.UniqueConstraint(fields=("artifact", "number"), name="artifact_piece_once")],
            },
        ),
    ]
