"""What the front ends of Python's GPU languages share: arrays as arguments, parameters in pieces, kernels of files."""
