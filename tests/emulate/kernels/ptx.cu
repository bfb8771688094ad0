// Instructions asked for by inline PTX, interpreters, recursion, trees.
extern "C" __global__ void ptx_bits(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i], z = c[i], r; unsigned* p = o + i * 16; unsigned long long w;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); p[0] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); p[1] = r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); p[2] = r;
    asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); p[3] = r;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(w) : "r"(x), "r"(y), "l"((unsigned long long)z << 32 | x)); p[4] = w; p[5] = w >> 32;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y & 63), "r"(z & 63)); p[6] = r;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y & 63), "r"(z & 63)); p[7] = r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(y), "r"(z & 31), "r"(y >> 27)); p[8] = r;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); p[9] = r;
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); p[10] = r;
    asm("dp2a.hi.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); p[11] = r;
    asm("sad.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); p[12] = r;
    asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(x)); p[13] = r;
    asm("{.reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 %0, %3, t;}" : "=r"(r) : "r"(x), "r"(y), "r"(z)); p[14] = r;
    asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z & 63)); p[15] = r;
}
extern "C" __global__ void ptx_warp(const int* in, int* o) {
    int i = threadIdx.x, v = in[i], r, p;
    asm volatile("{.reg .pred q; setp.gt.s32 q, %1, 0; vote.sync.ballot.b32 %0, q, 0xffffffff;}" : "=r"(r) : "r"(v)); o[i * 8] = r;
    asm volatile("{.reg .pred q, t; setp.gt.s32 q, %1, 0; vote.sync.uni.pred t, q, 0xffffffff; selp.s32 %0, 1, 0, t;}" : "=r"(r) : "r"(v >> 31)); o[i * 8 + 1] = r;
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v & 3)); o[i * 8 + 2] = r;
    asm volatile("{.reg .pred q; match.all.sync.b32 %0|q, %2, 0xffffffff; selp.s32 %1, 1, 0, q;}" : "=r"(r), "=r"(p) : "r"(v & 0)); o[i * 8 + 3] = r; o[i * 8 + 4] = p;
    asm volatile("{.reg .pred q; shfl.sync.down.b32 %0|q, %2, 5, 0x181f, 0xffffffff; selp.s32 %1, 1, 0, q;}" : "=r"(r), "=r"(p) : "r"(v)); o[i * 8 + 5] = r; o[i * 8 + 6] = p;
#if __CUDA_ARCH__ >= 800
    asm volatile("redux.sync.max.s32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v)); o[i * 8 + 7] = r;
#else
    r = v; for (int d = 16; d; d /= 2) r = max(r, __shfl_xor_sync(~0u, r, d)); o[i * 8 + 7] = r;
#endif
}
#if __CUDA_ARCH__ >= 890
extern "C" __global__ void ptx_float8(const float* x, unsigned short* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned short r;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(x[2 * i + 1]), "f"(x[2 * i])); o[2 * i] = r;
    asm("cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(x[2 * i + 1]), "f"(x[2 * i])); o[2 * i + 1] = r;
}
#endif
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void copy_pipeline(const float4* in, float4* out, int tiles) {   // cp.async + mbarrier, 2 stages
    __shared__ __align__(16) float4 buffer[2][128];
    __shared__ __align__(8) unsigned long long full[2];
    int t = threadIdx.x;
    unsigned base = (unsigned)__cvta_generic_to_shared(buffer), bar = (unsigned)__cvta_generic_to_shared(full);
    if (t < 2) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(bar + 8 * t), "r"(128));
    __syncthreads();
    auto fetch = [&](int tile) {
        int s = tile & 1;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(base + (s * 128 + t) * 16), "l"(in + tile * 128 + t));
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(bar + 8 * s));
    };
    float4 sum = make_float4(0, 0, 0, 0);
    fetch(0);
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) fetch(tile + 1);
        int s = tile & 1, phase = tile >> 1 & 1, ok = 0;
        while (!ok) asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p;}" : "=r"(ok) : "r"(bar + 8 * s), "r"(phase));
        float4 v = buffer[s][127 - t];
        sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
        __syncthreads();
    }
    out[t] = sum;
}
#endif
extern "C" __global__ void producer_consumer(const int* in, int* out, int rounds) {   // named barriers
    __shared__ int box[2][64];
    int t = threadIdx.x;
    if (t < 64) {
        for (int r = 0; r < rounds; ++r) {
            if (r >= 2) asm volatile("bar.sync %0, 128;" :: "r"(3 + (r & 1)) : "memory");
            box[r & 1][t] = in[r * 64 + t] * 3;
            asm volatile("bar.arrive %0, 128;" :: "r"(1 + (r & 1)) : "memory");
        }
    } else {
        int s = 0;
        for (int r = 0; r < rounds; ++r) {
            asm volatile("bar.sync %0, 128;" :: "r"(1 + (r & 1)) : "memory");
            s += box[r & 1][127 - t];
            if (r + 2 < rounds) asm volatile("bar.arrive %0, 128;" :: "r"(3 + (r & 1)) : "memory");
        }
        out[t - 64] = s;
    }
}
extern "C" __global__ void stack_machine(const unsigned char* code, int length, const int* in, int* out) {  // switch + local array
    int stack[16], top = 0, i = threadIdx.x;
    for (int pc = 0; pc < length; ++pc) {
        unsigned char op = code[pc];
        switch (op) {
            case 0: stack[top++] = in[i]; break;
            case 1: --top; stack[top - 1] += stack[top]; break;
            case 2: --top; stack[top - 1] *= stack[top]; break;
            case 3: --top; stack[top - 1] -= stack[top]; break;
            case 4: stack[top] = stack[top - 1]; ++top; break;
            case 5: { int s = stack[top - 1]; stack[top - 1] = stack[top - 2]; stack[top - 2] = s; } break;
            case 6: if (stack[top - 1] & 1) pc += 2; break;
            case 7: stack[top - 1] = __popc(stack[top - 1]); break;
            case 8: stack[top - 1] = -stack[top - 1]; break;
            default: stack[top++] = op;
        }
    }
    out[i] = stack[top - 1];
}
__device__ unsigned collatz(unsigned n) { return n == 1 ? 0 : 1 + collatz(n & 1 ? 3 * n + 1 : n / 2); }
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
extern "C" __global__ void recursions(const unsigned* n, unsigned* out) { int i = threadIdx.x; out[2 * i] = collatz(n[i] % 40 + 1); out[2 * i + 1] = ackermann(n[i] % 3, n[i] % 4); }
template <class T> struct Tree { T value; int left, right; };
extern "C" __global__ void tree_walk(const Tree<short>* tree, const short* keys, int* depth, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int at = 0, d = 0;
        while (at >= 0) { short v = tree[at].value; if (v == keys[i]) break; at = keys[i] < v ? tree[at].left : tree[at].right; ++d; }
        depth[i] = at < 0 ? -1 : d;
    }
}
extern "C" __global__ void halves_atomics(unsigned* hist, const unsigned char* x, unsigned long long* best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(hist + x[i] / 2, x[i] & 1 ? 0x10000u : 1u);
    atomicMax(best, (unsigned long long)x[i] << 32 | (unsigned)i);
    atomicInc(hist + 128, 99); atomicXor(hist + 129, x[i] * 2654435761u); atomicExch(hist + 130, 5u);
    unsigned long long old = atomicAdd(best + 1, (unsigned long long)x[i]), seen;
    do { seen = best[2]; } while (atomicCAS(best + 2, seen, seen * 1 + 3) != seen);
    if (old == 0) best[3] = i;
}
