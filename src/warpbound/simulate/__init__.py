"""Discrete-event simulators: experiments that anyone can repeat without a GPU."""
