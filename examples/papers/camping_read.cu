// CampProf's read micro-benchmark, Figures 4 and 5; rebuilt from section 3.2, since the text has lost the listings.
// Block b stays within 256 bytes: of partition b mod 8, or of one partition for all blocks with CAMPED=1. TYPE of 2, 4
// or 8 bytes makes transactions of 32, 64 or 128 bytes.
#ifndef TYPE
#define TYPE float
#endif
#ifndef CAMPED
#define CAMPED 0
#endif
#define PARTITIONS 8
#define WIDTH 256
#define ITERATIONS 512

extern "C" __global__ void camping_read(const TYPE* in, TYPE* out)
{
    const int words = WIDTH / sizeof(TYPE);
    int row = words * (CAMPED ? 0 : blockIdx.x % PARTITIONS);
    TYPE sum = 0;
    for (int i = 0; i < ITERATIONS; i += 16)
        sum += in[row + (threadIdx.x + i) % words];
    if (sum == (TYPE)-1)
        out[threadIdx.x] = sum;
}
