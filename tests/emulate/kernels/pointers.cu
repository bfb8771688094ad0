// Functions called by address: tables, choices, virtual functions.

typedef int (*Operation)(int, int);

__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }

__device__ Operation operations[3] = {plus, times, minus};

extern "C" __global__ void function_table(const int* which, int* x)
{
    x[threadIdx.x] = operations[which[threadIdx.x]](x[threadIdx.x], 3);
}

extern "C" __global__ void function_choice(int which, int* x)
{
    Operation operation = which ? plus : times;
    x[threadIdx.x] = operation(x[threadIdx.x], 5);
}

struct Shape {
    __device__ virtual float area() const = 0;
};
struct Square : Shape {
    float side;
    __device__ Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};
struct Strip : Shape {
    float width;
    __device__ Strip(float width) : width(width) {}
    __device__ float area() const override { return 3.0f * width; }
};

extern "C" __global__ void virtual_functions(float* x)
{
    Square square(x[threadIdx.x]);
    Strip strip(x[threadIdx.x]);
    const Shape* shape = threadIdx.x & 1 ? (const Shape*)&square : (const Shape*)&strip;
    x[threadIdx.x] = shape->area();
}
