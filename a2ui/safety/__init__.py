"""Limits and sanitisers: everything between agent-made values and markup."""
