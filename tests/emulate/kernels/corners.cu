// What compilers emit only for unusual code: minima of doubles, saturating sums, byte modes, short copies, wide
// atomics, directed roundings to FP16, addresses inside of device data.
#include <cuda_fp16.h>
#include <stdio.h>
#include <assert.h>

extern "C" __global__ void double_minima(const double* a, const double* b, double* least, double* most)
{
    least[threadIdx.x] = fmin(a[threadIdx.x], b[threadIdx.x]);
    most[threadIdx.x] = fmax(a[threadIdx.x], b[threadIdx.x]);
}

extern "C" __global__ void saturating(const int* a, const int* b, int* sum, int* difference)
{
    int t = threadIdx.x;
    asm("add.sat.s32 %0, %1, %2;" : "=r"(sum[t]) : "r"(a[t]), "r"(b[t]));
    asm("sub.sat.s32 %0, %1, %2;" : "=r"(difference[t]) : "r"(a[t]), "r"(b[t]));
}

#define MODE(place, name) asm("prmt.b32." name " %0, %1, %2, %3;" : "=r"(o[place]) : "r"(a[t]), "r"(b[t]), "r"(c[t]))

extern "C" __global__ void byte_modes(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out)
{
    int t = threadIdx.x;
    unsigned* o = out + 6 * t;
    MODE(0, "f4e"); MODE(1, "b4e"); MODE(2, "rc8"); MODE(3, "ecl"); MODE(4, "ecr"); MODE(5, "rc16");
}

#define COPY(level, width, to, from)                                                                            \
    asm volatile("cp.async." level ".shared.global [%0], [%1], " #width ", %2;"                                 \
                 :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(min(width, max(0, bytes - width * t))))

// The first `bytes` bytes of `in`, and zeros, copied in pieces of 16, 8 and 4 bytes.
extern "C" __global__ void short_copies(const char* in, char* out, int bytes)
{
#if __CUDA_ARCH__ >= 800
    __shared__ __align__(16) char s[28 * 32];
    int t = threadIdx.x;
    for (int i = 0; i < 28; i++) s[t + 32 * i] = -1;
    __syncthreads();
    COPY("cg", 16, s + 16 * t, in + 16 * t);
    COPY("ca", 8, s + 512 + 8 * t, in + 8 * t);
    COPY("ca", 4, s + 768 + 4 * t, in + 4 * t);
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    for (int i = 0; i < 28; i++) out[t + 32 * i] = s[t + 32 * i];
#endif
}

extern "C" __global__ void wide_atomics(float* f, unsigned* h, unsigned* b, unsigned long long* w, float* old)
{
#if __CUDA_ARCH__ >= 900
    int t = threadIdx.x;
    float p, q;
    unsigned r, s;
    asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %2, %2};" :: "l"(f + 4 * (t & 1)), "f"(0.5f), "f"(2.0f) : "memory");
    asm volatile("atom.global.add.v2.f32 {%0, %1}, [%2], {%3, %4};"
                 : "=f"(p), "=f"(q) : "l"(f + 8), "f"(1.0f), "f"(3.0f) : "memory");
    old[2 * t] = p;
    old[2 * t + 1] = q;
    asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %1, %1, %2};" :: "l"(h), "r"(0x3c004000), "r"(t) : "memory");
    asm volatile("atom.global.max.noftz.v2.bf16x2 {%0, %1}, [%2], {%3, %3};"
                 : "=r"(r), "=r"(s) : "l"(b), "r"(0x3f803f80 + (t << 16)) : "memory");
    b[4 + t] = r;
    unsigned long long low, high, seen = 0;
    do {
        asm volatile("{.reg .b128 c, s, o; mov.b128 c, {%2, %2}; mov.b128 s, {%3, %3};"
                     " atom.global.cas.b128 o, [%4], c, s; mov.b128 {%0, %1}, o;}"
                     : "=l"(low), "=l"(high) : "l"(seen), "l"(seen + t + 1), "l"(w) : "memory");
    } while (low != seen && (seen = low, true));
    asm volatile("{.reg .b128 s, o; mov.b128 s, {%2, %3}; atom.global.exch.b128 o, [%4], s; mov.b128 {%0, %1}, o;}"
                 : "=l"(low), "=l"(high) : "l"((unsigned long long)t), "l"(7ull), "l"(w + 2) : "memory");
    w[4 + t] = low;
#endif
}

extern "C" __global__ void directed_halves(const float* x, const double* y, unsigned short* out)
{
    int t = threadIdx.x;
    __half h[5] = {__float2half_rz(x[t]), __float2half_ru(x[t]), __float2half_rd(x[t]), __float2half(x[t]), __double2half(y[t])};
    for (int i = 0; i < 5; i++) out[5 * t + i] = __half_as_ushort(h[i]);
}

__device__ int data[4] = {10, 20, 30, 40};
__device__ int* inside = data + 1;
__device__ const char* words[2] = {"abc", "xyz"};
__constant__ int* also_inside = data + 2;

extern "C" __global__ void placed_addresses(int* out)
{
    int t = threadIdx.x;
    out[t] = inside[t % 3] + 100 * words[t & 1][t % 3] + 100000 * *also_inside;
}

extern "C" __global__ void widest_accesses(const float* in, float* out)
{
    int t = threadIdx.x;
#if __CUDA_ARCH__ >= 1000
    float r[8];
    asm volatile("ld.global.v8.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3]), "=f"(r[4]), "=f"(r[5]), "=f"(r[6]), "=f"(r[7])
                 : "l"(in + 8 * t));
    asm volatile("st.global.v8.f32 [%8], {%7, %6, %5, %4, %3, %2, %1, %0};"
                 :: "f"(r[0]), "f"(r[1]), "f"(r[2]), "f"(r[3]), "f"(r[4]), "f"(r[5]), "f"(r[6]), "f"(r[7]), "l"(out + 8 * t)
                 : "memory");
#endif
}

extern "C" __global__ void elected(int* out)
{
#if __CUDA_ARCH__ >= 900
    int t = threadIdx.x, chosen = 0, lane = -1;
    if (t % 32 > t / 32) asm volatile("{.reg .pred p; elect.sync %1|p, %2; selp.s32 %0, 1, 0, p;}"
                                      : "=r"(chosen), "=r"(lane) : "r"(__activemask()));
    out[2 * t] = chosen;
    out[2 * t + 1] = lane;
#endif
}

extern "C" __global__ void tanh_bfloats(unsigned* x)
{
#if __CUDA_ARCH__ >= 900
    asm("tanh.approx.bf16x2 %0, %0;" : "+r"(x[threadIdx.x]));
#endif
}

__device__ int down(int n, int sum);
__device__ __noinline__ int up(int n, int sum) { return n == 0 ? 2 * sum : down(n - 1, sum + n); }
__device__ __noinline__ int down(int n, int sum) { return n == 0 ? 3 * sum : up(n - 1, sum ^ n) + (n & 1); }

extern "C" __global__ void mutual_recursion(const int* n, int* out) { out[threadIdx.x] = up(n[threadIdx.x], 1); }

extern "C" __global__ void talking(const int* in, int* out)
{
    int t = threadIdx.x, x = in[t];
    if (x % 3 == 0) printf("%d at %d\n", x, t);
    if (x % 5 == 1) printf("again\n");
    out[t] = x * x;
}

extern "C" __global__ void asserting(const int* in, int* out)
{
    assert(in[threadIdx.x] < 40);
    out[threadIdx.x] = in[threadIdx.x];
}
