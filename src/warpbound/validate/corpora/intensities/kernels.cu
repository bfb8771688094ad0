// Arithmetic on what is read once: each thread goes down a column of two arrays, two rows at a time, and takes every pair
// of words through STEPS multiply-adds, two chains side by side; a well-known layout, written here from its description.

extern "C" __global__ void mixed(const float *__restrict__ left, const float *__restrict__ right, float *sums,
                                 int rows) {
    left += threadIdx.x + blockIdx.x * 256 * rows;
    right += threadIdx.x + blockIdx.x * 256 * rows;
    float sum = 0.0f;
#pragma unroll 1
    for (int row = 0; row < rows; row += 2) {
        const float a = left[row * 256], b = right[row * 256];
        const float c = left[(row + 1) * 256], d = right[(row + 1) * 256];
        float v = a - b, w = c - d;
        for (int i = 0; i < STEPS; ++i) {
            v = v * a - b;
            w = w * c - d;
        }
        sum += v + w;
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}
