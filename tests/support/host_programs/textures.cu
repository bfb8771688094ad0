// Textures of linear memory, of pitched memory and of an array; a surface; what is refused.
#include <cstdio>
#include <cstring>

enum { WIDTH = 40, HEIGHT = 24 };

__global__ void from_line(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1Dfetch<float>(t, (int)threadIdx.x - 8); }
__global__ void shifted(cudaTextureObject_t t, float *out)
{
    out[blockIdx.x * WIDTH + threadIdx.x] = tex2D<float>(t, (threadIdx.x + 3 + 0.5f) / WIDTH, (blockIdx.x + 5 + 0.5f) / HEIGHT);
}
__global__ void doubled(cudaSurfaceObject_t s)
{
    float v;
    surf2Dread(&v, s, threadIdx.x * sizeof v, blockIdx.x);
    surf2Dwrite(2 * v, s, threadIdx.x * sizeof v, blockIdx.x);
}

static float image[HEIGHT][WIDTH], seen[HEIGHT][WIDTH];

static int wrong(float factor)
{
    int count = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            count += seen[y][x] != factor * image[(y + 5) % HEIGHT][(x + 3) % WIDTH];
    return count;
}

int main()
{
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        (&image[0][0])[i] = i * 0.5f;
    float *line, *rows, *out;
    size_t pitch;
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMalloc(&line, sizeof image);
    cudaMalloc(&out, sizeof image);
    cudaMallocPitch(&rows, &pitch, sizeof image[0], HEIGHT);
    cudaMallocArray(&array, &format, WIDTH, HEIGHT, cudaArraySurfaceLoadStore);
    cudaMemcpy(line, image, sizeof image, cudaMemcpyHostToDevice);
    cudaMemcpy2D(rows, pitch, image, sizeof image[0], sizeof image[0], HEIGHT, cudaMemcpyHostToDevice);
    cudaMemcpy2DToArray(array, 0, 0, image, sizeof image[0], sizeof image[0], HEIGHT, cudaMemcpyHostToDevice);

    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = line;
    resource.res.linear.desc = format;
    resource.res.linear.sizeInBytes = sizeof image;
    cudaCreateTextureObject(&texture, &resource, &how, NULL);
    from_line<<<1, 32>>>(texture, out);
    cudaMemcpy(seen, out, 32 * sizeof(float), cudaMemcpyDeviceToHost);
    printf("line %g %g %g\n", seen[0][7], seen[0][8], seen[0][31]);
    cudaDestroyTextureObject(texture);

    how.normalizedCoords = 1;
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {rows, format, WIDTH, HEIGHT, pitch};
    cudaCreateTextureObject(&texture, &resource, &how, NULL);
    shifted<<<HEIGHT, WIDTH>>>(texture, out);
    cudaMemcpy(seen, out, sizeof image, cudaMemcpyDeviceToHost);
    printf("rows wrong %d\n", wrong(1));

    cudaSurfaceObject_t surface;
    memset(&resource, 0, sizeof resource);
    resource.res.array.array = array;
    cudaCreateSurfaceObject(&surface, &resource);
    doubled<<<HEIGHT, WIDTH>>>(surface);
    cudaCreateTextureObject(&texture, &resource, &how, NULL);
    shifted<<<HEIGHT, WIDTH>>>(texture, out);
    cudaMemcpy(seen, out, sizeof image, cudaMemcpyDeviceToHost);
    printf("array wrong %d\n", wrong(2));
    cudaMemcpy2DFromArray(seen, sizeof image[0], array, 4, 2, 12, 1, cudaMemcpyDeviceToHost);
    printf("read back %g\n", seen[0][2]);

    printf("%s\n", cudaGetErrorName(cudaMemcpy2DToArray(array, 8, 0, image, sizeof image[0], sizeof image[0], 1,
                                                        cudaMemcpyHostToDevice)));
    cudaArray_t cube;
    printf("%s\n", cudaGetErrorName(cudaMalloc3DArray(&cube, &format, make_cudaExtent(8, 8, 6), cudaArrayCubemap)));
    return 0;
}
