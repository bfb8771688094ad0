"""Volkov's synthetic family, and every model on it: what sections 4, 6 and 7 of the thesis compare."""
