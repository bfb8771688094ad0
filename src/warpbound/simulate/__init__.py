"""Discrete-event simulators: the experiment that anyone can repeat without a GPU."""
