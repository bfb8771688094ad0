// The window on the complex plane that mandelbrot.cu draws, and the iteration z -> z^2 + c.
#pragma once

struct Window {
    float left, top;   // the first pixel
    float dx, dy;      // from one pixel to the next
    int width, height; // pixels
    int limit;         // iterations after which a point counts as inside
};

__device__ inline int escape_time(float re, float im, int limit)
{
    float x = 0.0f, y = 0.0f;
    int step = 0;
    while (step < limit && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + re;
        y = 2.0f * x * y + im;
        x = next;
        ++step;
    }
    return step;
}
