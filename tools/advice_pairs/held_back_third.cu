// Steps of well-known ladders, in code of our own: kernels as first written, and what their teachers make of them.

// rows of attention scores: a thread per row; then a warp per row
__global__ void softmax_by_threads(float* out, const float* in, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* from = in + row * columns;
    float most = -INFINITY, sum = 0.0f;
    for (int i = 0; i < columns; ++i) most = fmaxf(most, from[i]);
    for (int i = 0; i < columns; ++i) sum += __expf(from[i] - most);
    for (int i = 0; i < columns; ++i) out[row * columns + i] = __expf(from[i] - most) / sum;
}
__global__ void softmax_by_warps(float* out, const float* in, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* from = in + row * columns;
    float most = -INFINITY, sum = 0.0f;
    for (int i = lane; i < columns; i += 32) most = fmaxf(most, from[i]);
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
    for (int i = lane; i < columns; i += 32) sum += __expf(from[i] - most);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    for (int i = lane; i < columns; i += 32) out[row * columns + i] = __expf(from[i] - most) / sum;
}
// mean and deviation of a row: trees in shared memory; then shuffles
__global__ void statistics_by_trees(float* mean, float* rstd, const float* in, int columns) {
    __shared__ float sums[256];
    int row = blockIdx.x, t = threadIdx.x;
    const float* from = in + row * columns;
    float sum = 0.0f;
    for (int i = t; i < columns; i += 256) sum += from[i];
    sums[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    float middle = sums[0] / columns;
    __syncthreads();
    sum = 0.0f;
    for (int i = t; i < columns; i += 256) sum += (from[i] - middle) * (from[i] - middle);
    sums[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) mean[row] = middle, rstd[row] = rsqrtf(sums[0] / columns + 1e-5f);
}
__global__ void statistics_by_warps(float* mean, float* rstd, const float* in, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float* from = in + row * columns;
    float sum = 0.0f;
    for (int i = lane; i < columns; i += 32) sum += from[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    float middle = sum / columns;
    sum = 0.0f;
    for (int i = lane; i < columns; i += 32) sum += (from[i] - middle) * (from[i] - middle);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) mean[row] = middle, rstd[row] = rsqrtf(sum / columns + 1e-5f);
}
// two halves added: one at a time; then eight in a 128-bit access
__global__ void residual_by_halves(unsigned short* out, const unsigned short* a, const unsigned short* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = __uint_as_float(a[i] << 16) + __uint_as_float(b[i] << 16);
        out[i] = __float_as_uint(sum) >> 16;
    }
}
__device__ unsigned added(unsigned a, unsigned b) {
    float low = __uint_as_float(a << 16) + __uint_as_float(b << 16);
    float high = __uint_as_float(a & 0xffff0000u) + __uint_as_float(b & 0xffff0000u);
    return __float_as_uint(low) >> 16 | (__float_as_uint(high) & 0xffff0000u);
}
__global__ void residual_by_eights(uint4* out, const uint4* a, const uint4* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 8) {
        uint4 x = a[i], y = b[i];
        out[i] = make_uint4(added(x.x, y.x), added(x.y, y.y), added(x.z, y.z), added(x.w, y.w));
    }
}
// forces of all bodies on each: bodies from global memory; then in tiles
__device__ float3 pulled(float3 sum, float4 own, float4 other) {
    float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
    float near = rsqrtf(x * x + y * y + z * z + 0.01f), pull = other.w * near * near * near;
    return make_float3(sum.x + x * pull, sum.y + y * pull, sum.z + z * pull);
}
__global__ void bodies_from_global(float* out, const float* x, const float* y, const float* z, const float* m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = make_float4(x[i], y[i], z[i], m[i]);
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int j = 0; j < n; ++j) sum = pulled(sum, own, make_float4(x[j], y[j], z[j], m[j]));
    out[3 * i] = sum.x, out[3 * i + 1] = sum.y, out[3 * i + 2] = sum.z;
}
__global__ void bodies_in_tiles(float* out, const float* x, const float* y, const float* z, const float* m, int n) {
    __shared__ float4 tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = make_float4(x[i], y[i], z[i], m[i]);
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int first = 0; first < n; first += 256) {
        int j = first + threadIdx.x;
        tile[threadIdx.x] = make_float4(x[j], y[j], z[j], m[j]);
        __syncthreads();
        for (int k = 0; k < 256; ++k) sum = pulled(sum, own, tile[k]);
        __syncthreads();
    }
    out[3 * i] = sum.x, out[3 * i + 1] = sum.y, out[3 * i + 2] = sum.z;
}
// a sparse matrix with 64 entries per row times a vector: a thread per row; then a warp per row
__global__ void rows_by_threads(float* y, const int* start, const int* column, const float* value, const float* x,
                                int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = 64 * start[row]; i < 64 * start[row + 1]; ++i) sum += value[i] * x[column[i] & 65535];
    y[row] = sum;
}
__global__ void rows_by_warps(float* y, const int* start, const int* column, const float* value, const float* x,
                              int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = 64 * start[row] + lane; i < 64 * start[row + 1]; i += 32) sum += value[i] * x[column[i] & 65535];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) y[row] = sum;
}
// sums of 2 * 24 + 1 neighbours in a row: from global memory; then staged
__global__ void window_direct(float* out, const float* in, const float* weight, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int j = -24; j <= 24; ++j) sum += weight[j + 24] * in[min(max(i + j, 0), n - 1)];
    out[i] = sum;
}
__global__ void window_staged(float* out, const float* in, const float* weight, int n) {
    __shared__ float row[256 + 48], own[49];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < 256 + 48; k += 256)
        row[k] = in[min(max((int)(blockIdx.x * 256) + k - 24, 0), n - 1)];
    if (threadIdx.x < 49) own[threadIdx.x] = weight[threadIdx.x];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < 49; ++j) sum += own[j] * row[threadIdx.x + j];
    out[i] = sum;
}
// a scalar product: every thread adds to the sum; then every block does, once
__global__ void dot_by_threads(float* sum, const float* a, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, a[i] * b[i]);
}
__global__ void dot_by_blocks(float* sum, const float* a, const float* b, int n) {
    __shared__ float of_warp[8];
    float own = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += a[i] * b[i];
    for (int step = 16; step > 0; step /= 2) own += __shfl_down_sync(~0u, own, step);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x < 8) {
        own = of_warp[threadIdx.x];
        for (int step = 4; step > 0; step /= 2) own += __shfl_down_sync(0xffu, own, step);
        if (threadIdx.x == 0) atomicAdd(sum, own);
    }
}
// a grey picture, launched in blocks of 4 x 4; then of 32 x 8
__global__ void grey(unsigned char* out, const uchar4* in, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    uchar4 pixel = in[y * width + x];
    out[y * width + x] = 0.299f * pixel.x + 0.587f * pixel.y + 0.114f * pixel.z;
}
// prefix sums of a block in a tree: neighbours at powers of two; then padded
#define PLACE(i) ((i) + PADDED * ((i) / 32))
template <int PADDED> __global__ void scan_of_blocks(float* out, const float* in) {
    __shared__ float sums[1024 + 32];
    int t = threadIdx.x, first = blockIdx.x * 1024, step = 1;
    sums[PLACE(t)] = in[first + t], sums[PLACE(t + 512)] = in[first + t + 512];
    for (int pairs = 512; pairs > 0; pairs /= 2, step *= 2) {
        __syncthreads();
        if (t < pairs) sums[PLACE(step * (2 * t + 2) - 1)] += sums[PLACE(step * (2 * t + 1) - 1)];
    }
    if (t == 0) sums[PLACE(1023)] = 0.0f;
    for (int pairs = 1; pairs < 1024; pairs *= 2) {
        step /= 2;
        __syncthreads();
        if (t < pairs) {
            int low = PLACE(step * (2 * t + 1) - 1), high = PLACE(step * (2 * t + 2) - 1);
            float before = sums[low];
            sums[low] = sums[high];
            sums[high] += before;
        }
    }
    __syncthreads();
    out[first + t] = sums[PLACE(t)], out[first + t + 512] = sums[PLACE(t + 512)];
}
// sums of columns of a matrix: one row at a time; then eight rows in flight
__global__ void columns_one_row(float* out, const float* in, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int row = blockIdx.y; row < rows; row += gridDim.y) sum += in[(long long)row * columns + column];
    out[blockIdx.y * columns + column] = sum;
}
__global__ void columns_eight_rows(float* out, const float* in, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int row = blockIdx.y; row < rows; row += 8 * gridDim.y) {
        float own[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) own[k] = in[(long long)(row + k * gridDim.y) * columns + column];
#pragma unroll
        for (int k = 0; k < 8; ++k) sum += own[k];
    }
    out[blockIdx.y * columns + column] = sum;
}
// squared distances between points: a result per thread from tiles; then 4 x 4 results per thread
__global__ void distances_each(float* out, const float* a, const float* b, int n, int features) {
    __shared__ float left[16][17], right[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * 16 + ty, j = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int first = 0; first < features; first += 16) {
        left[ty][tx] = a[i * features + first + tx];
        right[ty][tx] = b[(blockIdx.x * 16 + ty) * features + first + tx];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += (left[ty][k] - right[tx][k]) * (left[ty][k] - right[tx][k]);
        __syncthreads();
    }
    out[i * n + j] = sum;
}
__global__ void distances_sixteen(float* out, const float* a, const float* b, int n, int features) {
    __shared__ float left[16][68], right[16][68];
    int tx = threadIdx.x, ty = threadIdx.y;
    float sum[4][4] = {};
    for (int first = 0; first < features; first += 16) {
        for (int row = ty; row < 64; row += 16) {
            left[tx][row] = a[(blockIdx.y * 64 + row) * features + first + tx];
            right[tx][row] = b[(blockIdx.x * 64 + row) * features + first + tx];
        }
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            for (int y = 0; y < 4; ++y)
                for (int x = 0; x < 4; ++x) {
                    float apart = left[k][ty + 16 * y] - right[k][tx + 16 * x];
                    sum[y][x] += apart * apart;
                }
        __syncthreads();
    }
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) out[(blockIdx.y * 64 + ty + 16 * y) * n + blockIdx.x * 64 + tx + 16 * x] = sum[y][x];
}
// a derivative along z of a cube, whose threads follow z; then threads follow x
__global__ void along_z(float* out, const float* in, int n) {
    int z = threadIdx.x, x = blockIdx.x, y = blockIdx.y;
    if (z >= 2 && z < n - 2)
        out[(z * n + y) * n + x] = 0.67f * (in[((z + 1) * n + y) * n + x] - in[((z - 1) * n + y) * n + x]) -
                                   0.08f * (in[((z + 2) * n + y) * n + x] - in[((z - 2) * n + y) * n + x]);
}
__global__ void along_z_by_x(float* out, const float* in, int n) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    if (z >= 2 && z < n - 2)
        out[(z * n + y) * n + x] = 0.67f * (in[((z + 1) * n + y) * n + x] - in[((z - 1) * n + y) * n + x]) -
                                   0.08f * (in[((z + 2) * n + y) * n + x] - in[((z - 2) * n + y) * n + x]);
}
