"""A helpdesk for a shop: an agent of an application, to copy from. docs/example.md walks through it."""
