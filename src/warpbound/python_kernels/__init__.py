"""Shared by the front ends of Python's GPU languages: arrays as arguments, parameters in pieces, kernels of files."""
