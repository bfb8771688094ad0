"""Images and numbers that NVIDIA's samples read from files, and the results that they compare with, made with NumPy."""

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ANGLE = 0.5  # radians by which simpleTexture and simpleSurfaceWrite rotate


def _smooth(rows: int, columns: int, shift: float = 0) -> NDArray[np.uint8]:
    """An image without sharp edges, whose period is its size."""
    y, x = np.mgrid[:rows, :columns]
    x, y = 2 * np.pi * (x + shift) / columns, 2 * np.pi * y / rows
    waves = np.sin(x) + np.cos(2 * y) * np.sin(x + 1)
    return np.round(127 + 50 * waves).astype(np.uint8)


def _grey(place: Path, pixels: NDArray[np.uint8]) -> None:
    place.write_bytes(f"P5\n{pixels.shape[1]} {pixels.shape[0]}\n255\n".encode() + pixels.tobytes())


def _coloured(place: Path, pixels: NDArray[np.uint8]) -> None:
    place.write_bytes(f"P6\n{pixels.shape[1]} {pixels.shape[0]}\n255\n".encode() + pixels.tobytes())


def _numbers(place: Path, values: NDArray[np.float64]) -> None:
    place.write_text("".join(f"{value:.9g} " for value in values))


def rotated(folder: Path, size: int = 128) -> None:
    """An image and what bilinear filtering reads from it along rotated axes; it repeats beyond its edges."""
    pixels = _smooth(size, size)
    y, x = np.mgrid[:size, :size] - size / 2
    column = x * np.cos(ANGLE) - y * np.sin(ANGLE) + size / 2 - 0.5
    row = y * np.cos(ANGLE) + x * np.sin(ANGLE) + size / 2 - 0.5
    left, top = np.floor(column).astype(int), np.floor(row).astype(int)
    along, across = column - left, row - top

    def at(down: int, right: int) -> NDArray[np.float64]:
        return pixels[(top + down) % size, (left + right) % size].astype(np.float64)

    upper = (1 - along) * at(0, 0) + along * at(0, 1)
    lower = (1 - along) * at(1, 0) + along * at(1, 1)
    _grey(folder / "teapot512.pgm", pixels)
    _grey(folder / "ref_rotated.pgm", np.round((1 - across) * upper + across * lower).astype(np.uint8))


def stereo(folder: Path, rows: int = 48, columns: int = 96) -> None:
    """Two coloured noises, the second one moved by five columns."""
    wide = np.random.default_rng(11).integers(0, 256, (rows, columns + 5, 3), np.uint8)
    _coloured(folder / "stereo.im0.640x533.ppm", np.ascontiguousarray(wide[:, 5:]))
    _coloured(folder / "stereo.im1.640x533.ppm", np.ascontiguousarray(wide[:, :-5]))


def frames(folder: Path, rows: int = 240, columns: int = 320) -> None:
    """Two frames; between them the picture moves by half a column."""
    for name, shift in (("frame10.ppm", 0.0), ("frame11.ppm", 0.5)):
        _coloured(folder / name, np.repeat(_smooth(rows, columns, shift)[..., None], 3, axis=2))


def bitmap(folder: Path, size: int = 128) -> None:
    """A bitmap of 24 bits per pixel (header of 54 bytes)."""
    pixels = np.repeat(_smooth(size, size)[..., None], 3, axis=2).tobytes()
    header = struct.pack("<2sIII", b"BM", 54 + len(pixels), 0, 54)
    header += struct.pack("<IIIHHIIIIII", 40, size, size, 1, 24, 0, len(pixels), 0, 0, 0, 0)
    (folder / "teapot512.bmp").write_bytes(header + pixels)


def tridiagonal(folder: Path, size: int = 600) -> None:
    """A symmetric tridiagonal matrix, and its eigenvalues in ascending order. The sample wants a zero before the words
    above the diagonal."""
    generator = np.random.default_rng(12)
    diagonal, above = generator.uniform(-1, 1, (2, size)).astype(np.float32)
    above[0] = 0
    matrix = np.diag(diagonal.astype(np.float64)) + np.diag(above[1:].astype(np.float64), 1)
    _numbers(folder / "diagonal.dat", diagonal)
    _numbers(folder / "superdiagonal.dat", above)
    _numbers(folder / "reference.dat", np.linalg.eigvalsh(matrix, UPLO="U"))


def haar(folder: Path, size: int = 8192) -> None:
    """A signal and its Haar wavelets: the mean, then the differences from the coarsest to the finest.

    Of a size that leaves one level to the second launch (2048), the sample keeps the mean of the first one.
    """
    signal = np.random.default_rng(13).uniform(0, 10, size).astype(np.float32)
    means, differences = signal.astype(np.float64), []
    while len(means) > 1:
        differences.insert(0, (means[0::2] - means[1::2]) / np.sqrt(2))
        means = (means[0::2] + means[1::2]) / np.sqrt(2)
    _numbers(folder / "signal.dat", signal)
    _numbers(folder / "regression.gold.dat", np.concatenate([means, *differences]))


SAMPLE_MAKERS: dict[str, Callable[[Path], None]] = {
    "simpleTexture": rotated, "simpleSurfaceWrite": rotated, "stereoDisparity": stereo, "HSOpticalFlow": frames,
    "dct8x8": bitmap, "eigenvalues": tridiagonal, "dwtHaar1D": haar,
}  # fmt: skip
