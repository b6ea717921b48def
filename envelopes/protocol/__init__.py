"""Wire shapes: parts, the respond() tool, approvals, the envelope."""
