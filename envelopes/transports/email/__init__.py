"""Approvals by mail: who is told, what the mail says, and which reply to it decides (D25)."""
