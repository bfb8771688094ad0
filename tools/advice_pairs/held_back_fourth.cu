// Kernels as first written and as their teachers leave them, after the rules of the third set were in place.

// angles turn pairs of neighbours: two accesses of 4 bytes; then one of 16 bytes for two pairs
__global__ void turned_by_pairs(float* x, const float* angle, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    float sine = __sinf(angle[i % 64]), cosine = __cosf(angle[i % 64]), a = x[2 * i], b = x[2 * i + 1];
    x[2 * i] = a * cosine - b * sine;
    x[2 * i + 1] = a * sine + b * cosine;
}
__global__ void turned_by_four(float4* x, const float2* angle, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float2 by = angle[i % 32];
    float4 v = x[i];
    float s = __sinf(by.x), c = __cosf(by.x), s2 = __sinf(by.y), c2 = __cosf(by.y);
    x[i] = make_float4(v.x * c - v.y * s, v.x * s + v.y * c, v.z * c2 - v.w * s2, v.z * s2 + v.w * c2);
}
// pictures enlarged: place by division of a linear index; then by the axes of the grid
__global__ void enlarged_by_divisions(float* out, const float* in, int width, int height, int factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int wide = width * factor, high = height * factor, x = i % wide, y = i / wide % high, picture = i / (wide * high);
    out[i] = in[(picture * height + y / factor) * width + x / factor];
}
__global__ void enlarged_by_axes(float* out, const float* in, int width, int height, int factor) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, picture = blockIdx.z;
    float value = in[(picture * height + y) * width + x];
    float* to = out + ((picture * height + y) * 2 * width + x) * 2;
    *(float2*)to = make_float2(value, value);
    *(float2*)(to + 2 * width) = make_float2(value, value);
}
// steps of z * z + c
template <class Real> __global__ void escape(int* out, Real step, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, round = 0;
    Real a = 0, b = 0, c = x * step - 2, d = y * step - 1;
    for (; round < 64 && a * a + b * b < 4; ++round) {
        Real next = a * a - b * b + c;
        b = 2 * a * b + d;
        a = next;
    }
    out[y * width + x] = round;
}
// a vector times a matrix: a thread per column; then rows in 64 parts
__global__ void times_matrix(float* y, const float* x, const float* a, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int row = 0; row < rows; ++row) sum += x[row] * a[row * columns + column];
    y[column] = sum;
}
__global__ void times_matrix_in_parts(float* y, const float* x, const float* a, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, part = rows / gridDim.y;
    float sum = 0.0f;
    for (int row = blockIdx.y * part; row < (blockIdx.y + 1) * part; ++row) sum += x[row] * a[row * columns + column];
    atomicAdd(&y[column], sum);
}
// 5 x 5 weights over a plane: a result per thread; then four results in a column, whose rows stay in registers
__global__ void filtered_each(float* out, const float* in, const float* w, int width) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 5; ++i)
#pragma unroll
        for (int j = 0; j < 5; ++j) sum += w[5 * i + j] * in[(y + i) * (width + 4) + x + j];
    out[y * width + x] = sum;
}
__global__ void filtered_four(float* out, const float* in, const float* w, int width) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + 4 * threadIdx.y;
    float sum[4] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        float row[5];
#pragma unroll
        for (int j = 0; j < 5; ++j) row[j] = in[(y + i) * (width + 4) + x + j];
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
            for (int j = 0; j < 5; ++j)
                if (i >= k && i < k + 5) sum[k] += w[5 * (i - k) + j] * row[j];
    }
    for (int k = 0; k < 4; ++k) out[(y + k) * width + x] = sum[k];
}
// products of many 4 x 4 matrices: a matrix per thread; then an element per thread
__global__ void small_products(float* c, const float* a, const float* b, int n) {
    int m = 16 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            float sum = 0.0f;
            for (int k = 0; k < 4; ++k) sum += a[m + 4 * i + k] * b[m + 4 * k + j];
            c[m + 4 * i + j] = sum;
        }
}
__global__ void small_products_by_element(float* c, const float* a, const float* b, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, m = at / 16 * 16, i = at % 16 / 4, j = at % 4;
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) sum += a[m + 4 * i + k] * b[m + 4 * k + j];
    c[at] = sum;
}
// rows of a tile summed by a thread each: in one bank; then in rows one longer
template <int LONGER> __global__ void sums_of_rows(float* out, const float* in) {
    __shared__ float tile[8][32][32 + LONGER];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float* from = in + (blockIdx.x * 8 + warp) * 1024;
    for (int row = 0; row < 32; ++row) tile[warp][row][lane] = from[32 * row + lane];
    __syncwarp();
    float sum = 0.0f;
    for (int column = 0; column < 32; ++column) sum += tile[warp][lane][column];
    out[(blockIdx.x * 8 + warp) * 32 + lane] = sum;
}
// a byte per pixel made brighter: one per thread; then sixteen
__device__ unsigned brighter(unsigned value) { return __vaddus4(value, 0x10101010u); }
__global__ void brighter_each(unsigned char* out, const unsigned char* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = min(in[i] + 16, 255);
}
__global__ void brighter_sixteen(uint4* out, const uint4* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 16) {
        uint4 v = in[i];
        out[i] = make_uint4(brighter(v.x), brighter(v.y), brighter(v.z), brighter(v.w));
    }
}
// the nearest of 256 centres in three dimensions: centres from global memory; then staged once per block
__global__ void nearest_from_global(int* out, const float* x, const float* y, const float* z, const float* centre,
                                    int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
    float least = 1e30f, px = x[i], py = y[i], pz = z[i];
    for (int k = 0; k < 256; ++k) {
        float dx = px - centre[3 * k], dy = py - centre[3 * k + 1], dz = pz - centre[3 * k + 2];
        float apart = dx * dx + dy * dy + dz * dz;
        if (apart < least) least = apart, best = k;
    }
    out[i] = best;
}
__global__ void nearest_staged(int* out, const float* x, const float* y, const float* z, const float* centre, int n) {
    __shared__ float4 centres[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x, best = 0;
    centres[t] = make_float4(centre[3 * t], centre[3 * t + 1], centre[3 * t + 2], 0.0f);
    __syncthreads();
    float least = 1e30f, px = x[i], py = y[i], pz = z[i];
    for (int k = 0; k < 256; ++k) {
        float4 at = centres[k];
        float dx = px - at.x, dy = py - at.y, dz = pz - at.z, apart = dx * dx + dy * dy + dz * dz;
        if (apart < least) least = apart, best = k;
    }
    out[i] = best;
}
// every fourth element takes a long way: scattered over the lanes; then warps of their own
__device__ float long_way(float x) {
    for (int k = 0; k < 64; ++k) x = sqrtf(x * x + 1.0f) * 0.99f;
    return x;
}
__global__ void mixed_ways(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i % 4 == 0 ? long_way(in[i]) : 2.0f * in[i];
}
__global__ void sorted_ways(float* out, const float* in, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, quarter = n / 4;
    int i = t < quarter ? 4 * t : (t - quarter) / 3 * 4 + (t - quarter) % 3 + 1;
    out[i] = t < quarter ? long_way(in[i]) : 2.0f * in[i];
}
