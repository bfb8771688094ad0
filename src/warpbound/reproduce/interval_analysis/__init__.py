"""Lecture notes "Interval Analysis": its worked examples."""
