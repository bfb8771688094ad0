"""Launches with what NumPy says of them, for the emulator; single instructions; damaged machine code."""
