// Sums per row, per column and per element of a product, and their better versions.

#define N 512
#define M 256
#define TALL 65536
__global__ void gemm(float* a, float* b, float* c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < N && j < N) {
    c[i * N + j] *= 0.5f;
    for (int k = 0; k < N; k++) { c[i * N + j] += 1.5f * a[i * N + k] * b[k * N + j]; }
  }
}
__global__ void gemm_better(float* a, float* b, float* c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < N && j < N) {
    float s = c[i * N + j] * 0.5f;
    for (int k = 0; k < N; k++) s += 1.5f * a[i * N + k] * b[k * N + j];
    c[i * N + j] = s;
  }
}
__global__ void syrk(float* a, float* c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < N && j < N) { c[i * N + j] *= 0.5f; for (int k = 0; k < N; k++) { c[i * N + j] += 1.5f * a[i * N + k] * a[j * N + k]; } }
}
__global__ void syr2k(float* a, float* b, float* c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < N && j < N) { c[i * N + j] *= 0.5f; for (int k = 0; k < N; k++) { c[i * N + j] += 1.5f * a[i * N + k] * b[j * N + k] + 1.5f * b[i * N + k] * a[j * N + k]; } }
}
__global__ void mm2(float* A, float* B, float* tmp) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < N && j < N) { tmp[i * N + j] = 0; for (int k = 0; k < N; ++k) { tmp[i * N + j] += 1.5f * A[i * N + k] * B[k * N + j]; } }
}
__global__ void mm2_better(float* A, float* B, float* tmp) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < N && j < N) { float s = 0; for (int k = 0; k < N; ++k) s += 1.5f * A[i * N + k] * B[k * N + j]; tmp[i * N + j] = s; }
}
__global__ void doitgen(float* sum, float* A, float* C4) {
  int p = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y * blockDim.y + threadIdx.y;
  if (p < N && q < N) { sum[q * N + p] = 0; for (int s = 0; s < N; s++) { sum[q * N + p] = sum[q * N + p] + A[q * N + s] * C4[s * N + p]; } }
}
__global__ void doitgen_better(float* sum, float* A, float* C4) {
  int p = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y * blockDim.y + threadIdx.y;
  if (p < N && q < N) { float t = 0; for (int s = 0; s < N; s++) t += A[q * N + s] * C4[s * N + p]; sum[q * N + p] = t; }
}

// one row per thread, TALL rows of M: neighbouring lanes a row apart
__global__ void atax1(float* A, float* x, float* tmp) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tmp[i] = 0;
  for (int j = 0; j < M; j++) { tmp[i] += A[i * M + j] * x[j]; }
}
__device__ float of_warp(float v) { for (int step = 16; step; step /= 2) v += __shfl_xor_sync(~0u, v, step); return v; }
__global__ void atax1_better(float* A, float* x, float* tmp) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float s = 0;
  for (int j = lane; j < M; j += 32) s += A[i * M + j] * x[j];
  s = of_warp(s);
  if (lane == 0) tmp[i] = s;
}
__global__ void mvt1(float* a, float* x1, float* y1) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < M; j++) { x1[i] += a[i * M + j] * y1[j]; }
}
__global__ void mvt1_better(float* a, float* x1, float* y1) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float s = 0;
  for (int j = lane; j < M; j += 32) s += a[i * M + j] * y1[j];
  s = of_warp(s);
  if (lane == 0) x1[i] += s;
}
__global__ void gesummv(float* A, float* B, float* tmp, float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < M; j++) { tmp[i] += A[i * M + j] * x[j]; y[i] += B[i * M + j] * x[j]; }
  y[i] = 1.5f * tmp[i] + 0.5f * y[i];
}
__global__ void gesummv_better(float* A, float* B, float* tmp, float* x, float* y) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float s = 0, t = 0;
  for (int j = lane; j < M; j += 32) { s += A[i * M + j] * x[j]; t += B[i * M + j] * x[j]; }
  s = of_warp(s); t = of_warp(t);
  if (lane == 0) { tmp[i] += s; y[i] = 1.5f * tmp[i] + 0.5f * (y[i] + t); }
}
// one column per thread, M rows of TALL
__global__ void atax2(float* A, float* y, float* tmp) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  y[j] = 0;
  for (int i = 0; i < M; i++) { y[j] += A[i * TALL + j] * tmp[i]; }
}
__global__ void atax2_better(float* A, float* y, float* tmp) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int i = 0; i < M; i++) s += A[i * TALL + j] * tmp[i];
  y[j] = s;
}
__global__ void mvt2(float* a, float* x2, float* y2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < M; j++) { x2[i] += a[j * TALL + i] * y2[j]; }
}
__global__ void mvt2_better(float* a, float* x2, float* y2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = x2[i];
  for (int j = 0; j < M; j++) s += a[j * TALL + i] * y2[j];
  x2[i] = s;
}
__global__ void bicg1(float* A, float* r, float* s) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  s[j] = 0.0f;
  for (int i = 0; i < M; i++) { s[j] += r[i] * A[i * TALL + j]; }
}
__global__ void bicg1_better(float* A, float* r, float* s) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  float t = 0.0f;
  for (int i = 0; i < M; i++) t += r[i] * A[i * TALL + j];
  s[j] = t;
}
// blocks of 32 x 8 threads
__global__ void syrk_better(float* a, float* c) {
  __shared__ float rows[32][33], other[32][33];
  int j = blockIdx.x * 32 + threadIdx.x, i0 = blockIdx.y * 32;
  float s[4] = {0, 0, 0, 0};
  for (int k = 0; k < N; k += 32) {
    for (int r = threadIdx.y; r < 32; r += 8) {
      rows[r][threadIdx.x] = a[(i0 + r) * N + k + threadIdx.x];
      other[r][threadIdx.x] = a[(blockIdx.x * 32 + r) * N + k + threadIdx.x];
    }
    __syncthreads();
    for (int l = 0; l < 32; l++)
      for (int q = 0; q < 4; q++) s[q] += 1.5f * rows[threadIdx.y + 8 * q][l] * other[threadIdx.x][l];
    __syncthreads();
  }
  for (int q = 0; q < 4; q++) { int i = i0 + threadIdx.y + 8 * q; c[i * N + j] = 0.5f * c[i * N + j] + s[q]; }
}
__global__ void syr2k_better(float* a, float* b, float* c) {
  __shared__ float ai[32][33], aj[32][33], bi[32][33], bj[32][33];
  int j = blockIdx.x * 32 + threadIdx.x, i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
  float s[4] = {0, 0, 0, 0};
  for (int k = 0; k < N; k += 32) {
    for (int r = threadIdx.y; r < 32; r += 8) {
      ai[r][threadIdx.x] = a[(i0 + r) * N + k + threadIdx.x]; bi[r][threadIdx.x] = b[(i0 + r) * N + k + threadIdx.x];
      aj[r][threadIdx.x] = a[(j0 + r) * N + k + threadIdx.x]; bj[r][threadIdx.x] = b[(j0 + r) * N + k + threadIdx.x];
    }
    __syncthreads();
    for (int l = 0; l < 32; l++)
      for (int q = 0; q < 4; q++) s[q] += 1.5f * ai[threadIdx.y + 8 * q][l] * bj[threadIdx.x][l] + 1.5f * bi[threadIdx.y + 8 * q][l] * aj[threadIdx.x][l];
    __syncthreads();
  }
  for (int q = 0; q < 4; q++) { int i = i0 + threadIdx.y + 8 * q; c[i * N + j] = 0.5f * c[i * N + j] + s[q]; }
}
