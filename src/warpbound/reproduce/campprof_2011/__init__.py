"""A. M. Aji, M. Daga, W. Feng, CF 2011: its figures, a simulator of memory partitions in place of the GTX 280."""
