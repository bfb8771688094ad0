"""Inner loops over recorded accesses in C: the same results as the NumPy code, bit for bit, in less time.

`library` compiles them; the other modules call them for long arrays. NumPy handles short arrays and wide keys.
"""
