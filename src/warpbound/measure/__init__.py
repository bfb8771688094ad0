"""Measures on a real GPU what nobody published: kernels, runner, extraction, a profile for the catalogue."""
