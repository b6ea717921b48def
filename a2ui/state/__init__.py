"""The component definitions of one surface: rows that are accepted or refused, where components use each other, and
the numbers that their DOM ids are made of."""
