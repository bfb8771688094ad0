// mxv_o_per_thd, after the lecture notes on interval analysis: a thread computes one element of one product.
// Each vector has COLUMNS elements; the matrix, ROWS x COLUMNS, is in constant memory.

#ifndef ROWS
#define ROWS 16
#define COLUMNS 16
#endif

__constant__ float matrix[ROWS][COLUMNS];

extern "C" __global__ void mxv_per_thread(const float *__restrict__ in, float *__restrict__ out, int vectors)
{
    const int thread = threadIdx.x + blockIdx.x * blockDim.x;
    const int row = thread % ROWS, step = blockDim.x * gridDim.x / ROWS;
    for (int h = thread / ROWS; h < vectors; h += step) {
        float sum = 0.0f;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) sum += matrix[row][c] * in[h * COLUMNS + c];
        out[h * ROWS + row] = sum;
    }
}
