"""The emulator's second engine: an interpreter in C that executes the instructions of a chunk as NumPy's handlers do.

`translation` turns instructions into steps of the interpreter (c/), `library` compiles it at first use, `native_chunk`
runs a chunk with it. What is not translated, and whatever is wrong, is left to the handlers of NumPy.
"""
