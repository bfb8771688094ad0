"""A product by persistent blocks, which fetch tile after tile, against the same tiles as a grid."""

import pytest

from warpbound.analysis.answer import analyze_kernel
from warpbound.emulate import alike_iterations
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

pytestmark = [pytest.mark.cuda, pytest.mark.broad, pytest.mark.usefixtures("disassembled_together")]

PRODUCT = """extern "C" __global__
void product(const float* a, const float* b, float* c, int n, int tiles, int across) {
    __shared__ float as[16][64], bs[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    FOR_TILES {
        int row = tile / across * 64, column = tile % across * 64;
        float sum[4][4] = {};
        for (int k = 0; k < n; k += 16) {
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                int i = t + j * 256;
                as[i % 16][i / 16] = a[(row + i / 16) * n + k + i % 16];
                bs[i / 64][i % 64] = b[(k + i / 64) * n + column + i % 64];
            }
            __syncthreads();
            #pragma unroll
            for (int i = 0; i < 16; i++)
                for (int y = 0; y < 4; y++)
                    for (int x = 0; x < 4; x++) sum[y][x] += as[i][ty * 4 + y] * bs[i][tx * 4 + x];
            __syncthreads();
        }
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 4; x++) c[(row + ty * 4 + y) * n + column + tx * 4 + x] = sum[y][x];
    }
}"""
LOOPS = {
    "grid": "int tile = blockIdx.x;",
    "persistent": "for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)",
}
SIZE, TILE = 8192, 64


@pytest.mark.parametrize("enough", [alike_iterations.ENOUGH, 2 * alike_iterations.ENOUGH])
def test_persistent_blocks_move_what_a_grid_of_tiles_moves(enough, monkeypatch):
    """Without leaving out tiles, the persistent blocks are too long to be executed."""
    monkeypatch.setattr(alike_iterations, "ENOUGH", enough)
    across = SIZE // TILE
    results = []
    for name, blocks in (("grid", across * across), ("persistent", 264)):
        program = compile_program(PRODUCT.replace("FOR_TILES", LOOPS[name]), "h200")
        arrays = {word: f"f32[{SIZE},{SIZE}]:zeros" for word in "abc"}
        asked = launch(grid=blocks, block=256, args={**arrays, "n": SIZE, "tiles": across * across, "across": across})
        results.append(analyze_kernel(program, "h200", asked))
    grid, persistent = results
    assert persistent.memory.l2_sectors_read == pytest.approx(grid.memory.l2_sectors_read, rel=0.01)
    assert persistent.memory.shared_wavefronts_load == pytest.approx(grid.memory.shared_wavefronts_load, rel=0.01)
    assert persistent.memory.dram_bytes_read == pytest.approx(grid.memory.dram_bytes_read, rel=0.25)
    assert persistent.time_s == pytest.approx(grid.time_s, rel=0.1)
