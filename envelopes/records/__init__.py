"""Conversations as a whole: to a file and from one, their end once they are old, and the end of a person's data."""
