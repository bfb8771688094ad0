// Better versions of kernels of public programs, of which no rule and no interval was made; and simpler versions
// (`filter_each`, `rows_direct`, `scan_in_steps`, `hotspot_each`) of kernels that are themselves the better ones.

// a 3 x 3 stencil whose rows are staged in shared memory; blocks of 32 x 8
__global__ void convolution2D_tiled(int ni, int nj, float* A, float* B) {
    __shared__ float tile[10][34];
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
    for (int y = threadIdx.y; y < 10; y += 8)
        for (int x = threadIdx.x; x < 34; x += 32) {
            int row = blockIdx.y * 8 + y - 1, column = blockIdx.x * 32 + x - 1;
            bool inside = row >= 0 && row < ni && column >= 0 && column < nj;
            tile[y][x] = inside ? A[row * nj + column] : 0.0f;
        }
    __syncthreads();
    const float* at = &tile[threadIdx.y][threadIdx.x];
    if (i < ni - 1 && j < nj - 1 && i > 0 && j > 0)
        B[i * nj + j] = 0.2f * at[0] + 0.5f * at[34] - 0.8f * at[68] - 0.3f * at[1] + 0.6f * at[35] - 0.9f * at[69] +
                        0.4f * at[2] + 0.7f * at[36] + 0.1f * at[70];
}
// sums of columns in a register
__global__ void mean_kept(int m, int n, float* mean, float* data) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) sum += data[i * m + j];
    mean[j] = sum / 3214212.01f;
}
__global__ void gramschmidt_kept(int ni, int nj, float* a, float* r, float* q, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j <= k || j >= nj) return;
    float sum = 0.0f;
    for (int i = 0; i < ni; ++i) sum += q[i * nj + k] * a[i * nj + j];
    r[k * nj + j] = sum;
    for (int i = 0; i < ni; ++i) a[i * nj + j] -= q[i * nj + k] * sum;
}
// x along the rows of the matrix
__global__ void Fan2_along_rows(float* m, float* a, float* b, int size, int j1, int t) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= size - 1 - t || column >= size - t) return;
    a[size * (row + 1 + t) + column + t] -= m[size * (row + 1 + t) + t] * a[size * t + column + t];
    if (column == 0) b[row + 1 + t] -= m[size * (row + 1 + t) + column + t] * b[t];
}
// a tile of 32 x 32 in shared memory turns points and features; blocks of 32 x 8
__global__ void invert_tiled(float* input, float* output, int npoints, int nfeatures) {
    __shared__ float tile[32][33];
    int first = blockIdx.x * 32;
    for (int feature = 0; feature < nfeatures; feature += 32) {
        for (int y = threadIdx.y; y < 32; y += 8)
            if (feature + threadIdx.x < nfeatures)
                tile[y][threadIdx.x] = input[(first + y) * nfeatures + feature + threadIdx.x];
        __syncthreads();
        for (int y = threadIdx.y; y < 32; y += 8)
            if (feature + y < nfeatures) output[first + threadIdx.x + npoints * (feature + y)] = tile[threadIdx.x][y];
        __syncthreads();
    }
}
// sums in registers and by shuffles, one barrier per vector
__global__ void scalarProd_shuffles(float* d_C, float* d_A, float* d_B, int vectorN, int elementN) {
    __shared__ float of_warp[8];
    for (int vec = blockIdx.x; vec < vectorN; vec += gridDim.x) {
        float sum = 0.0f;
        for (int pos = vec * elementN + threadIdx.x; pos < (vec + 1) * elementN; pos += blockDim.x)
            sum += d_A[pos] * d_B[pos];
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        __syncthreads();
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int warp = 1; warp < 8; ++warp) sum += of_warp[warp];
            d_C[vec] = sum;
        }
    }
}
// a tree whose adding threads are neighbours
__global__ void reduce_neighbours(long d_Ne, int d_no, int d_mul, float* d_sums, float* d_sums2) {
    __shared__ float sums[512], sums2[512];
    int tx = threadIdx.x, ei = blockIdx.x * 512 + tx;
    sums[tx] = d_sums[ei * d_mul];
    sums2[tx] = d_sums2[ei * d_mul];
    __syncthreads();
    for (int half = 256; half > 0; half /= 2) {
        if (tx < half) {
            sums[tx] += sums[tx + half];
            sums2[tx] += sums2[tx + half];
        }
        __syncthreads();
    }
    if (tx == 0) {
        d_sums[blockIdx.x * d_mul * 512] = sums[0];
        d_sums2[blockIdx.x * d_mul * 512] = sums2[0];
    }
}
// the constants in single precision
__global__ void adjust_single(float* delta, int hid, float* ly, int in, float* w, float* oldw) {
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * 16 * by + (hid + 1) * ty + tx + 1 + (hid + 1), index_y = 16 * by + ty + 1, index_x = tx + 1;
    w[index] += 0.3f * delta[index_x] * ly[index_y] + 0.3f * oldw[index];
    oldw[index] = 0.3f * delta[index_x] * ly[index_y] + 0.3f * oldw[index];
    __syncthreads();
    if (ty == 0 && by == 0) {
        w[index_x] += 0.3f * delta[index_x] + 0.3f * oldw[index_x];
        oldw[index_x] = 0.3f * delta[index_x] + 0.3f * oldw[index_x];
    }
}
// every thread that keeps an element takes a place for itself
__global__ void filter_each(int* dst, int* nres, const int* src, int n) {
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x)
        if (src[i] > 0) dst[atomicAdd(nres, 1)] = src[i];
}
// 17 elements of a row per result, all from global memory
__constant__ float weights[17] = {.01f, .02f, .03f, .04f, .05f, .06f, .08f, .1f, .2f, .1f, .08f,
                                  .06f, .05f, .04f, .03f, .02f, .01f};
__global__ void rows_direct(float* d_Dst, float* d_Src, int imageW, int imageH, int pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int j = -8; j <= 8; ++j)
        if (x + j >= 0 && x + j < imageW) sum += weights[8 - j] * d_Src[y * pitch + x + j];
    d_Dst[y * pitch + x] = sum;
}
// a scan of a block in steps of doubled distance
__global__ void scan_in_steps(int* data, int width, int* partial_sums) {
    __shared__ int sums[256];
    int id = blockIdx.x * blockDim.x + threadIdx.x, value = data[id];
    sums[threadIdx.x] = value;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        int before = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
        __syncthreads();
        sums[threadIdx.x] = value += before;
        __syncthreads();
    }
    data[id] = value;
    if (threadIdx.x == blockDim.x - 1) partial_sums[blockIdx.x] = value;
}
// sums over rows: lanes of a warp hold two rows, so a shuffle by 16 adds them, and eight pairs meet in shared memory
__global__ void layer_shuffles(float* input_cuda, float* output_hidden_cuda, float* input_hidden_cuda,
                               float* hidden_partial_sum, int in, int hid) {
    __shared__ float sums[8][16];
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * 16 * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    float product = input_hidden_cuda[index] * input_cuda[16 * by + ty + 1];
    input_hidden_cuda[index] = product;
    product += __shfl_down_sync(~0u, product, 16);
    if (ty % 2 == 0) sums[ty / 2][tx] = product;
    __syncthreads();
    if (ty == 0) {
        float sum = 0.0f;
        for (int pair = 0; pair < 8; ++pair) sum += sums[pair][tx];
        hidden_partial_sum[by * hid + tx] = sum;
    }
}
// a thread per element of the three dimensions
__global__ void hotspot_each(float* p, float* tIn, float* tOut, float sdc, int nx, int ny, int nz, float ce, float cw,
                             float cn, float cs, float ct, float cb, float cc) {
    int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y, k = blockIdx.z;
    int xy = nx * ny, c = i + j * nx + k * xy;
    int W = i == 0 ? c : c - 1, E = i == nx - 1 ? c : c + 1, N = j == 0 ? c : c - nx, S = j == ny - 1 ? c : c + nx;
    int B = k == 0 ? c : c - xy, T = k == nz - 1 ? c : c + xy;
    tOut[c] = cc * tIn[c] + cw * tIn[W] + ce * tIn[E] + cs * tIn[S] + cn * tIn[N] + cb * tIn[B] + ct * tIn[T] +
              sdc * p[c] + ct * 80.0f;
}
// a warp per row
__global__ void gemver_by_warps(int n, float alpha, float beta, float* a, float* x, float* w) {
    int lane = threadIdx.x % 32, i = blockIdx.x * 8 + threadIdx.x / 32;
    float sum = 0.0f;
    for (int j = lane; j < n; j += 32) sum += alpha * a[i * n + j] * x[j];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0) w[i] += sum;
}
// the arrays turned, so that neighbouring threads take neighbouring elements
__global__ void adi_turned(int n, float* A, float* B, float* X) {
    int i1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i1 >= n) return;
    for (int i2 = 1; i2 < n; i2++) {
        int here = i2 * n + i1, before = here - n;
        X[here] = X[here] - X[before] * A[here] / B[before];
        B[here] = B[here] - A[here] * A[here] / B[before];
    }
}
