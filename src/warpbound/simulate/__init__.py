"""Discrete-event simulators: the experiment that anyone can repeat where no GPU is at hand."""
