"""Sweeps of one kernel: over occupancy (curve, curve_range) and over tunings (tunings, ranking, candidates)."""
