// Distances of all places from one, the first step of finding the nearest.
// Teaches: a stream with a square root: DRAM, as long as enough warps are resident.

__global__ void nn(int places, const float2* __restrict__ place, float latitude, float longitude,
                   float* __restrict__ distance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= places)
        return;

    float2 at = place[i];
    float north = latitude - at.x, east = longitude - at.y;
    distance[i] = sqrtf(north * north + east * east);
}
