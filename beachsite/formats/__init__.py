"""How dates and times are written where Django writes them: the admin's lists, fields and histories."""
