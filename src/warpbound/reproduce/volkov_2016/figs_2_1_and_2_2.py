"""Figures 2.1 and 2.2: what one access costs, by the rules that price kernels."""

import numpy as np
from numpy.typing import NDArray

from warpbound.memory import banks, coalescing
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Transactions of each access to global memory, ways of the conflict of each one to shared memory."""
    found = {name: requested(given, name) for name in given["accesses"]}
    strided = {name: laid_out(given, name) for name in given["strides"]}
    whole = np.ones((1, coalescing.LANES), bool)
    return {
        "transactions": {name: _transactions(given, lanes) for name, lanes in found.items()},
        "bank conflicts, ways": {
            name: int(banks.wavefronts(lanes[None, :], whole, given["bank_word_B"], given["arch"]).actual[0])
            for name, lanes in strided.items()
        },
    }


def requested(given: Given, name: str) -> NDArray[np.uint64]:
    """Byte address of each thread of an access to global memory."""
    return np.array(given["accesses"][name], np.uint64) * np.uint64(given["word_B"])


def laid_out(given: Given, name: str) -> NDArray[np.uint64]:
    """Byte address of each of 32 lanes of an access to shared memory."""
    return np.arange(coalescing.LANES, dtype=np.uint64) * np.uint64(given["bank_word_B"] * given["strides"][name])


def _transactions(given: Given, lanes: NDArray[np.uint64]) -> int:
    addresses = np.zeros((1, coalescing.LANES), np.uint64)
    addresses[0, : len(lanes)] = lanes
    active = (np.arange(coalescing.LANES) < len(lanes))[None, :]
    return int(coalescing.transactions(addresses, active, given["word_B"], given["arch"]).count[0])
