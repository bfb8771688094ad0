// out = transpose(in), row by row: reads along rows, writes along columns.
// Teaches: uncoalesced stores. The 32 lanes of a store touch 32 different sectors, so that each
// request moves eight times the bytes it needs. Compare with transpose_tiled.

#define TILE 32
#define ROWS 8

__global__ void transpose_naive(const float* __restrict__ in, float* __restrict__ out, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;

    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            out[x * height + y + j] = in[(y + j) * width + x];
}
