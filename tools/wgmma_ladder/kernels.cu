// Products of one warp group (wgmma m64nNk16) with both factors in shared memory: GROUP of them, then a wait until at most
// WAIT groups are under way, `rounds` times.
#ifndef COLUMNS
#define COLUMNS 64
#define HALF 32
#define NEXT 33
#define GROUP 4
#define WAIT 1
#endif
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define PASTE_OF(a, b) a##b
#define PASTE(a, b) PASTE_OF(a, b)
#define N4 "%0, %1, %2, %3"
#define N8 N4 ", %4, %5, %6, %7"
#define N16 N8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define N32 N16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define N48 N32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define N64 N48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define N96 N64 \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82" \
    ", %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define N128 N96 \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
    ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define O4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define O8(i) O4(i), O4(i + 4)
#define O16(i) O8(i), O8(i + 8)
#define O32(i) O16(i), O16(i + 16)
#define O48(i) O32(i), O16(i + 32)
#define O64(i) O32(i), O32(i + 32)
#define O96(i) O64(i), O32(i + 64)
#define O128(i) O64(i), O64(i + 64)

__device__ __forceinline__ void product(float (&d)[HALF], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n" TEXT(COLUMNS) "k16.f32.bf16.bf16 {" PASTE(N, HALF) "}, %" TEXT(HALF)
                 ", %" TEXT(NEXT) ", 1, 1, 1, 0, 0;" : PASTE(O, HALF)(0) : "l"(a), "l"(b));
}

__device__ __forceinline__ unsigned long long descriptor(const unsigned char *at) {  // 128 and 256 bytes from matrix to matrix
    const unsigned address = (unsigned)__cvta_generic_to_shared(at);
    return (address & 0x3ffffull) >> 4 | (128ull >> 4) << 16 | (256ull >> 4) << 32;
}

extern "C" __global__ void __launch_bounds__(128) products(float *sums, int rounds) {
    __shared__ __align__(1024) unsigned char factors[2048 + 256 * 32];
    for (int i = threadIdx.x; i < (int)sizeof factors; i += 128) factors[i] = 0;
    __syncthreads();
    const unsigned long long a = descriptor(factors), b = descriptor(factors + 2048);
    float d[HALF] = {};
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < HALF; ++i) asm volatile("" : "+f"(d[i]) :: "memory");
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < GROUP; ++i) product(d, a, b);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned " TEXT(WAIT) ";" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    float total = 0;
    for (int i = 0; i < HALF; ++i) total += d[i];
    sums[blockIdx.x * 128 + threadIdx.x] = total;
}
