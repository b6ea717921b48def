"""A site's configuration as a file: what is exported, what an import would change, and the import itself (seed 003).

The state is peers, groups and feature flags: rows of the database. What is a setting or stands in code goes along to be
compared (``environment``) and is never imported.
"""

from envelopes.config_transfer.files import export, read
from envelopes.config_transfer.imports import Change, Report, carry_over

__all__ = ["Change", "Report", "carry_over", "export", "read"]
