// 128-bit integers (the compiler option --device-int128).
extern "C" __global__ void int128(const unsigned long long* a, unsigned long long* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned __int128 x = ((unsigned __int128)a[3 * i] << 64) | a[3 * i + 1];
    unsigned __int128 y = x * a[3 * i + 2] + (x >> 37) - (x << 5);
    __int128 z = (__int128)x / (long long)(a[3 * i + 2] | 1);
    unsigned __int128 m = x % (a[3 * i + 2] | 1);
    o[6 * i] = y; o[6 * i + 1] = y >> 64; o[6 * i + 2] = z; o[6 * i + 3] = z >> 64; o[6 * i + 4] = m; o[6 * i + 5] = x < y;
}
