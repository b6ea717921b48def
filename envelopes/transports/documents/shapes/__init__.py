"""The envelopes of seed 003 as pydantic models, the JSON Schemas made of them, and how one is read: no Django here."""
