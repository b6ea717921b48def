"""Approvals: how they are asked for, and the only place that decides them."""
