// Adds two vectors and prints the time that events measure.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main(int count, char **words)
{
    int n = count > 1 ? atoi(words[1]) : 50000;
    std::vector<float> x(n), y(n), z(n);
    for (int i = 0; i < n; i++)
        x[i] = i, y[i] = 2 * i;
    float *a, *b, *c, milliseconds;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&c, n * sizeof(float));
    cudaMemcpy(a, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(b, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    for (int round = 0; round < 3; round++)
        add<<<(n + 255) / 256, 256>>>(a, b, c, n);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&milliseconds, start, stop);
    cudaMemcpy(z.data(), c, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (z[i] != 3 * i)
            return printf("wrong at %d\n", i), 1;
    printf("passed in %.9g ms\n", milliseconds);
    return cudaGetLastError();
}
