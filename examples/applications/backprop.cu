// Forward pass of a layer: 16 x 16 blocks multiply 16 inputs by their weights to 16 hidden units and add them
// up in shared memory; one partial sum per block and hidden unit.
// Teaches: little work between barriers; half of the lanes drop out at each step of the sum.

#define SIDE 16

__global__ void backprop(int hidden, const float* __restrict__ input, float* __restrict__ weight,
                         float* __restrict__ partial)
{
    __shared__ float unit[SIDE];
    __shared__ float product[SIDE][SIDE];
    int first = blockIdx.x * SIDE;
    int at = (first + threadIdx.y) * hidden + threadIdx.x;

    if (threadIdx.x == 0)
        unit[threadIdx.y] = input[first + threadIdx.y];
    __syncthreads();

    product[threadIdx.y][threadIdx.x] = weight[at] * unit[threadIdx.y];
    __syncthreads();

    for (int step = SIDE / 2; step > 0; step /= 2) {
        if (threadIdx.y < step)
            product[threadIdx.y][threadIdx.x] += product[threadIdx.y + step][threadIdx.x];
        __syncthreads();
    }

    weight[at] = product[threadIdx.y][threadIdx.x];
    if (threadIdx.y == 0)
        partial[blockIdx.x * hidden + threadIdx.x] = product[0][threadIdx.x];
}
