"""Inner loops of the cache simulation in C: the same results as the NumPy code, bit for bit, in less time.

`library` compiles them and calls them for long streams. NumPy handles short streams and keys that do not fit.
"""
