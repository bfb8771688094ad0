"""A. M. Aji, M. Daga, W. Feng, CF 2011: its figures, a simulator of memory partitions in place of the GTX 280."""

ITEMS = ("section_2", "fig_3", "section_4_1", "fig_7", "fig_8", "fig_9", "fig_10")
