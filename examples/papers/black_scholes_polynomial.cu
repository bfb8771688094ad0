// European options by Black and Scholes: three arrays in, two out, the normal distribution as a polynomial.
// After V. Volkov, EECS-2016-143, section 3.10, which takes a kernel of the same kind from a vendor's samples. Both ways
// of compiling move the same bytes; --use_fast_math shortens what a warp waits between them, so that fewer warps do.

__device__ float tail(float x)  // of the normal distribution, beyond |x|: Abramowitz and Stegun, 26.2.17
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
    float sum = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return 0.39894228f * expf(-0.5f * x * x) * sum;
}

__device__ float below(float x)
{
    float beyond = tail(x);
    return x > 0.0f ? 1.0f - beyond : beyond;
}

__global__ void black_scholes(const float* __restrict__ spot, const float* __restrict__ strike,
                              const float* __restrict__ years, float* __restrict__ call, float* __restrict__ put,
                              float rate, float volatility)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = spot[i], x = strike[i], t = years[i];
    float deviation = volatility * sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / deviation;
    float d2 = d1 - deviation;
    float discounted = x * expf(-rate * t);
    call[i] = s * below(d1) - discounted * below(d2);
    put[i] = discounted * (1.0f - below(d2)) - s * (1.0f - below(d1));
}
