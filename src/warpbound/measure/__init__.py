"""Measurements on a real GPU: kernels, runner, extraction of parameters, a profile for the catalogue."""
