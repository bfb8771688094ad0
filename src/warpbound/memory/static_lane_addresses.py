"""Byte addresses of the lanes of an access, at every alignment that its unknowns can give."""

import numpy as np
from numpy.typing import NDArray

from warpbound.memory import affine
from warpbound.memory.address_arithmetic import PERIOD_B, Address
from warpbound.memory.address_registers import Threads
from warpbound.memory.affine import Form

_FAR = np.int64(1) << 40    # between rows whose distance is not known
_START = np.int64(1) << 39  # so that no address is negative


def rows(address: Address, threads: Threads) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Byte addresses of the lanes of every warp at every alignment, and who takes part; (n, 32) each.

    Raises ValueError where the address is not known.
    """
    form = address.form
    if isinstance(form, str):
        raise ValueError(form)
    shape = (threads.warps, 32)
    group, uniform = _rows_apart(form, shape)
    step = affine.steps(uniform, address.step)
    start = np.broadcast_to(form.known, shape) + group * _FAR + _START
    offsets = np.arange(0, PERIOD_B, step, dtype=np.int64)
    lanes = (start[None] + offsets[:, None, None]).reshape(-1, 32).astype(np.uint64)
    exists = np.arange(threads.warps * 32).reshape(shape) < threads.count
    return lanes, np.broadcast_to(exists, (len(offsets), *shape)).reshape(-1, 32)


def _rows_apart(form: Form, shape: tuple[int, int]) -> tuple[NDArray[np.int64], Form]:
    """Which lanes of a warp are in one row (a number per lane), and the remaining unknowns of all lanes."""
    names = [name for name in form.terms if name]
    varying = [name for name in names if np.ndim(form.terms[name])]
    group = np.zeros(shape, np.int64)
    if varying:
        table = np.stack([np.broadcast_to(form.terms[name], shape).reshape(-1) for name in varying], axis=1)
        group = np.unique(table, axis=0, return_inverse=True)[1].reshape(shape).astype(np.int64)
    return group, Form({name: form.terms[name] for name in names})
