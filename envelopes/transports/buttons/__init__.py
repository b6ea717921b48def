"""Buttons in other programs: what posts a press of one, mapped onto one shape, and decided by the service."""
