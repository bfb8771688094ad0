// European call and put prices by Black and Scholes, one option per thread.
// log_moneyness is ln(spot / strike); years is the time to expiry.
// Teaches: special functions. Exponentials, a square root, a division and two error functions per option:
// the FMA, ALU and XU pipes compete with DRAM, and --use_fast_math changes who wins.

__device__ float normal_cdf(float x)
{
    return 0.5f * erfcf(-0.70710678f * x);
}

__global__ void black_scholes(const float* __restrict__ log_moneyness, const float* __restrict__ years,
                              float* __restrict__ call, float* __restrict__ put,
                              float strike, float rate, float volatility, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;

    float m = log_moneyness[i];
    float t = years[i];
    float deviation = volatility * sqrtf(t);
    float d1 = (m + (rate + 0.5f * volatility * volatility) * t) / deviation;
    float d2 = d1 - deviation;

    float spot = strike * expf(m);
    float discounted = strike * expf(-rate * t);
    float value = spot * normal_cdf(d1) - discounted * normal_cdf(d2);
    call[i] = value;
    put[i] = value - spot + discounted;
}
