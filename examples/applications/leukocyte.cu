// White blood cells are round and bright: for every pixel and radius the gradients along the circle's normals,
// their mean squared over their variance; the best radius counts.
// Teaches: much arithmetic and many loads, nearly all from L1; special functions only at the start of a block.

#define POINTS 32    // on a circle
#define RADII 5
#define MARGIN 16    // pixels around the picture, as far as the largest circle reaches

__global__ void leukocyte(int pitch, const float* __restrict__ gradient_x, const float* __restrict__ gradient_y,
                          float* __restrict__ best)
{
    __shared__ float cosine[POINTS], sine[POINTS];
    if (threadIdx.y == 0 && threadIdx.x < POINTS)
        sincospif(2.0f * threadIdx.x / POINTS, &sine[threadIdx.x], &cosine[threadIdx.x]);
    __syncthreads();

    int x = MARGIN + blockIdx.x * blockDim.x + threadIdx.x;
    int y = MARGIN + blockIdx.y * blockDim.y + threadIdx.y;
    float highest = 0.0f;
    for (int k = 0; k < RADII; ++k) {
        float radius = 8.0f + 2.0f * k, sum = 0.0f, squares = 0.0f;
        for (int p = 0; p < POINTS; ++p) {
            int i = (y + __float2int_rn(radius * sine[p])) * pitch + x + __float2int_rn(radius * cosine[p]);
            float outward = gradient_x[i] * cosine[p] + gradient_y[i] * sine[p];
            sum += outward;
            squares += outward * outward;
        }
        float mean = sum / POINTS;
        highest = fmaxf(highest, mean * mean / (squares / POINTS - mean * mean));
    }
    best[y * pitch + x] = highest;
}
