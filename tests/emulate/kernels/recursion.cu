// Functions that call themselves where lanes part: each depth uses the same barrier registers again.
__device__ void sort(int* a, int low, int high) {
    if (low >= high) return;
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) { int t = a[i]; a[i] = a[j]; a[j] = t; i++; j--; }
    }
    sort(a, low, j);
    sort(a, i, high);
}
extern "C" __global__ void quicksort(int* x, int n) {
    int a[32];
    int* row = x + (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    for (int i = 0; i < 32; i++) a[i] = row[i];
    sort(a, 0, n - 1);
    for (int i = 0; i < 32; i++) row[i] = a[i];
}
__device__ __noinline__ int walk(int i, int depth) {  // lanes leave the loop while others are deeper
    if (depth == 0) return i;
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < 3; k++) {
        if ((i + k) % 4 == 1) sum += walk(i + k, depth - 1);
        else if ((i + k) % 4 == 2) return sum + 7;
        else sum += k;
        if (sum > 50) break;
    }
    return sum + 1;
}
extern "C" __global__ void leaving_walks(int* out) { out[threadIdx.x] = walk(threadIdx.x, threadIdx.x % 6); }
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void loops_left(int* out) {  // two loops at once, from within calls of others
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
#pragma unroll 1
    for (int a = 0; a < 5; a++) {
#pragma unroll 1
        for (int b = 0; b < 4; b++) {
            if ((i + a * b) % 7 == 3) goto left;
            if ((i + b) % 3 == 0) { sum += fibonacci((i + a + b) % 7); continue; }
            sum += 1;
        }
        sum += 10;
        continue;
    left:
        sum += 100;
        if (i % 5 == 0) break;
    }
    out[i] = sum;
}
extern "C" __global__ void add_to_shorts(unsigned short* x, int n) {  // of an odd number: the last word reaches beyond
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned short *place = x + i % n, seen = *place, expected;
    do {
        expected = seen;
        seen = atomicCAS(place, expected, (unsigned short)(expected + i % 7));
    } while (seen != expected);
}
extern "C" __global__ void whereabouts(unsigned* out) {
    unsigned sm, sms, warp;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(sms));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    unsigned* mine = out + 3 * (blockIdx.x * blockDim.x + threadIdx.x);
    mine[0] = sm; mine[1] = sms; mine[2] = warp;
}
