"""Server-sent events for programs: the parts of a conversation as they come."""
