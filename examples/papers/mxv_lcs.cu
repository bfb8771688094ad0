// MXV-LCS, after the lecture notes on interval analysis: a thread loads its vector, computes, stores.
// Each vector has COLUMNS elements; the matrix, ROWS x COLUMNS, is in constant memory.

#ifndef ROWS
#define ROWS 16
#define COLUMNS 16
#endif

__constant__ float matrix[ROWS][COLUMNS];

extern "C" __global__ void mxv_lcs(const float *__restrict__ in, float *__restrict__ out, int vectors)
{
    const int threads = blockDim.x * gridDim.x;
    for (int h = threadIdx.x + blockIdx.x * blockDim.x; h < vectors; h += threads) {
        float sum[ROWS], element[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) element[c] = in[h * COLUMNS + c];
#pragma unroll
        for (int r = 0; r < ROWS; r++) sum[r] = 0.0f;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) sum[r] += matrix[r][c] * element[c];
#pragma unroll
        for (int r = 0; r < ROWS; r++) out[h * ROWS + r] = sum[r];
    }
}
