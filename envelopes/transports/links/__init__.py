"""Signed links to approvals: a page for one question and one person, without the chat and without script."""
