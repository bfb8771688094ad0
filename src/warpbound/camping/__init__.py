"""CampProf as a tool: simulated benchmarks, the bounds of a kernel's time, how much it camps, what to do about it."""
