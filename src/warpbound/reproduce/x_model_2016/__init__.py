"""A. Li and others, "X", 2016, and the Transit model of its section II."""
