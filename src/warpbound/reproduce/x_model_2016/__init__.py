"""A. Li and others, "X", 2016, and the Transit model of its section II."""

ITEMS = ("figs_2_to_5", "fig_4", "figs_7_and_8", "fig_9", "table_2", "figs_12_to_18", "applications")
