"""From Workload, Gpu and Residency to each model's own Inputs: one module per model."""
