"""Measured launches, the whole chain's answers to them, and how far these are off: the models judged by silicon."""
