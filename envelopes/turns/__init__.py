"""Turns as they are stored. Synchronous: each step is one transaction, fenced by the lease of whoever runs it."""
