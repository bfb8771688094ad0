"""Whole CUDA programs without a GPU: a replacement of libcudart hands every call over, kernels run in the emulator.

    report = run(["./program", "argument"], gpu("h200"))

`executable` reads the program, `source_build` makes it from a .cu file, `runtime_build` compiles the replacement
(`runtime/*.c`), `server` answers its questions, `session` holds the device: memory, modules, launches, streams.
"""
