"""Inner loops of the caches' simulation in C: the results of the NumPy code beside them, to the bit, in less time.

`library` compiles them where much is to be followed. What they cannot do, and whatever is small, stays with NumPy.
"""
