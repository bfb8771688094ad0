"""CampProf as a tool: benchmarks from the simulator, a kernel's band, how much it camps, what to do about it."""
