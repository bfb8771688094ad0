// Which of 20 million points lie inside a polygon of 600 corners: a point is inside if the ray to its right crosses an odd
// number of edges. A thread has EACH points, a block's width apart. BETWEEN says how the height of a point is compared
// with the two ends of an edge, INSIDE how the crossings are counted. A well-known algorithm (crossing numbers), in the
// layout of a public benchmark of autotuners, written here from its description.

#define CORNERS 600

struct Corner {
    float x, y;
};

// Corners on the unit circle, clockwise, at uneven angles: known at compile time, so that no input file is needed.
struct Circle {
    Corner at[CORNERS];
    constexpr Circle() : at() {
        unsigned random = 1;
        for (int k = 0; k < CORNERS; ++k) {
            random = random * 1664525u + 1013904223u;
            const double turn = 6.283185307179586 * (CORNERS - k - random / 4294967296.0) / CORNERS;
            at[k].x = static_cast<float>(sine(turn + 1.5707963267948966));
            at[k].y = static_cast<float>(sine(turn));
        }
    }
    static constexpr double sine(double angle) {
        while (angle > 3.141592653589793)
            angle -= 6.283185307179586;
        double term = angle, sum = angle;
        for (int power = 3; power < 30; power += 2) {
            term *= -angle * angle / (power * (power - 1));
            sum += term;
        }
        return sum;
    }
};

__constant__ Circle polygon = Circle();

__device__ __forceinline__ bool between(float y, float one, float other) {
#if BETWEEN == 0
    return (one > y) != (other > y);
#elif BETWEEN == 1
    return (one <= y && other > y) || (one > y && other <= y);
#elif BETWEEN == 2
    return y - one == 0.0f || (y - one) * (y - other) < 0.0f;
#else
    return (y - one) * (y - other) < 0.0f || y - one == 0.0f;
#endif
}

extern "C" __global__ void inside(int *flags, const Corner *points, int n) {
    const int first = blockIdx.x * BLOCK_X * EACH + threadIdx.x;
    if (first >= n)
        return;
    int crossings[EACH];
    Corner own[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        crossings[i] = 0;
        if (first + BLOCK_X * i < n)
            own[i] = points[first + BLOCK_X * i];
    }
    int before = CORNERS - 1;
    for (int corner = 0; corner < CORNERS; before = corner++) {
        const Corner here = polygon.at[corner], there = polygon.at[before];
        const float slope = (there.x - here.x) / (there.y - here.y);
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const Corner point = own[i];
#if INSIDE == 0
            if (between(point.y, here.y, there.y) && point.x < slope * (point.y - here.y) + here.x)
                crossings[i] = !crossings[i];
#elif INSIDE == 1
            const int beside = between(point.y, here.y, there.y);
            crossings[i] += beside && point.x < here.x + slope * (point.y - here.y);
#else
            if (between(point.y, here.y, there.y) && point.x < slope * (point.y - here.y) + here.x)
                crossings[i] += 1;
#endif
        }
    }
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        if (first + BLOCK_X * i < n)
            flags[first + BLOCK_X * i] = INSIDE == 0 ? crossings[i] : crossings[i] & 1;
    }
}
