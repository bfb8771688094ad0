// A block turned round in shared memory, once without and once with the barrier that it needs.
#include <cstdio>

__global__ void careless(int *p) {
    __shared__ int s[128];
    s[threadIdx.x] = p[threadIdx.x];
    p[threadIdx.x] = s[127 - threadIdx.x];
}

__global__ void careful(int *p) {
    __shared__ int s[128];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[127 - threadIdx.x];
}

int main() {
    int *p, host[128];
    for (int i = 0; i < 128; i++) host[i] = i + 1;
    cudaMalloc(&p, sizeof host);
    cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
    careless<<<1, 128>>>(p);
    careful<<<1, 128>>>(p);
    return cudaDeviceSynchronize();
}
