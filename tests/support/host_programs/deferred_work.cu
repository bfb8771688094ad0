// Prints from a kernel; a graph of kernels recorded from a stream; registered host memory; an assertion that fails.
#include <cassert>
#include <cstdio>
#include <cstdlib>

__global__ void greet(double x) { printf("[%d,%2d] %s %.2f %u %lld %c%%\n", blockIdx.x, threadIdx.x, "hello", x * threadIdx.x,
                                         4000000000u, 1234567890123LL, 'a' + threadIdx.x); }
__global__ void twice(int *values) { values[threadIdx.x] *= 2; }
__global__ void check(int n) { assert(threadIdx.x < n); }

int main()
{
    greet<<<2, 2>>>(1.5);
    printf("host first\n");
    cudaDeviceSynchronize();

    int *values = (int *)malloc(5000), *seen;
    for (int i = 0; i < 32; i++)
        values[i] = i;
    cudaHostRegister(values, 5000, cudaHostRegisterMapped);
    cudaHostGetDevicePointer(&seen, values, 0);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    twice<<<1, 32, 0, stream>>>(seen);
    twice<<<1, 32, 0, stream>>>(values); // the same bytes by the host's own address
    cudaStreamEndCapture(stream, &graph);
    printf("recorded %d\n", values[31]);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, stream);
    cudaGraphLaunch(ready, stream);
    cudaStreamSynchronize(stream);
    printf("replayed %d\n", values[31]);

    int *between; // memory of the graph: the same in every launch, also after somebody has freed it
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMallocAsync(&between, 128, stream);
    cudaMemcpyAsync(between, values, 128, cudaMemcpyHostToDevice, stream);
    twice<<<1, 32, 0, stream>>>(between);
    cudaMemcpyAsync(values, between, 128, cudaMemcpyDeviceToHost, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaMemAllocNodeParams wanted = {};
    cudaGraphNode_t node;
    wanted.bytesize = 128;
    printf("node %s\n", cudaGetErrorName(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &wanted)));
    cudaGraphAddMemFreeNode(&node, graph, NULL, 0, wanted.dptr);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, stream);
    cudaFree(between);
    printf("again %s\n", cudaGetErrorName(cudaGraphLaunch(ready, stream)));
    cudaStreamSynchronize(stream);
    printf("allocated %d %d\n", values[31], wanted.dptr && wanted.dptr != between);

    check<<<1, 32>>>(30);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
