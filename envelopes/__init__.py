"""The envelope protocol and its runtime: parts, respond(), turns, approvals, delivery."""
