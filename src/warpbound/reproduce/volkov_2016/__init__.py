"""V. Volkov, "Understanding Latency Hiding on GPUs", 2016: chapters 2 to 7, and the models that it evaluates."""
