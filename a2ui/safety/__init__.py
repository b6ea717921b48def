"""What stands between values that agents make and what is done with them: limits, ids, texts, Markdown, colours,
addresses, and regular expressions whose cost is bounded."""
