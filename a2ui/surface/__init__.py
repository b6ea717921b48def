"""One live surface: what it is made of, how it comes into being, what it reports, which names it may not use."""
