// Memory of the device heap outlives the launch that asks for it; equal launches get other memory.
#include <cstdio>

struct node { int value; node *next; };
__device__ node *list;

__global__ void push(int value) { list = new node{value, list}; }
__global__ void sum(int *out)
{
    for (node *each = list; each; each = each->next)
        *out += each->value;
}
__global__ void drop()
{
    for (node *each = list; each; ) { node *next = each->next; delete each; each = next; }
    list = nullptr;
}
__global__ void most(int *out) { for (*out = 0; malloc(1 << 20); ++*out) ; }

int main()
{
    int *out, seen;
    cudaMallocManaged(&out, sizeof *out);
    printf("%s\n", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20)));
    *out = 0;
    for (int i = 0; i < 3; i++)
        push<<<1, 1>>>(7);
    sum<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    seen = *out;
    drop<<<1, 1>>>();
    most<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    printf("sum %d, then %d MB\n", seen, *out);
    printf("%s\n", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20)));
    return 0;
}
