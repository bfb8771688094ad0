// The absolute value of array elements, in place: what is positive is not written.
// After V. Volkov, EECS-2016-143, Listing 3.7. Where all elements are negative, twice the bytes move at about the same
// latency, so that half the warps saturate memory. BELOW = 2 treats all elements of [0, 1) as negative.

#ifndef BELOW
#define BELOW 0.0f
#endif

__global__ void vector_abs(float* a)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    float b = a[i];
    if (b < BELOW)
        a[i] = -b;
}
