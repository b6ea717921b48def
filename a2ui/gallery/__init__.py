"""The developer page for A2UI programs: samples, an editor, a stepper, the live surface, its data and what it says.

Nothing is kept between two requests. The page sends the program, the position and the journal of what was done since,
and the server plays all of it again: DOM ids come from counters (D40), so every replay gives the same ones, in any
process. What an agent could do to an engine it can do here, and no more.
"""
