// Escape times of the Mandelbrot set, one pixel per thread; the window is a struct passed by value.
// Teaches: divergence. A warp works until its last lane escapes, a block holds its place until its last
// warp ends; FMA latency in a chain of dependent steps, no memory traffic but the one store.

#include "mandelbrot.cuh"

__global__ void mandelbrot(Window window, int* __restrict__ steps)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= window.width || row >= window.height)
        return;

    float re = window.left + column * window.dx;
    float im = window.top + row * window.dy;
    steps[row * window.width + column] = escape_time(re, im, window.limit);
}
