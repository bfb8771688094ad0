// FP8 in both formats, from and to wider types.
#include <cuda_fp8.h>

extern "C" __global__ void float8_each(const float* in, unsigned char* e4, unsigned char* e5, float* back)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_fp8_e4m3 a(in[i]);
    __nv_fp8_e5m2 b(in[i]);
    e4[i] = a.__x;
    e5[i] = b.__x;
    back[2 * i] = float(a);
    back[2 * i + 1] = float(b);
}

extern "C" __global__ void float8_four(const float4* in, unsigned* out, float4* back)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_fp8x4_e4m3 a(in[i]);
    out[i] = a.__x;
    back[i] = float4(a);
}

extern "C" __global__ void float8_halves(const __half2* in, unsigned short* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_fp8x2_e5m2 a(in[i]);
    out[i] = a.__x;
}
