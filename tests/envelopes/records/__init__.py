"""Conversations as files, their end, and the end of what tells of a person."""
