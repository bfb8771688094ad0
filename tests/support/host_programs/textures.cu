// Textures of linear and pitched memory and of arrays of all kinds; a surface; what is refused.
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

__global__ void from_solid(cudaTextureObject_t t, float x, float *out)
{
    int i = threadIdx.x;
    out[i] = tex3D<float>(t, x, i % 4 + 0.5f, i / 4 + 0.5f);
}
__global__ void from_layers(cudaTextureObject_t t, float *out)
{
    int i = threadIdx.x;
    out[i] = tex2DLayered<float>(t, i % 4 + 0.5f, i / 4 % 4 + 0.5f, i / 16);
}
__global__ void from_cube(cudaTextureObject_t t, float *out)
{
    float a = (threadIdx.x % 4 - 1.5f) / 2, b = (threadIdx.x / 4 % 4 - 1.5f) / 2;
    float from[6][3] = {{1, -b, -a}, {-1, -b, a}, {a, 1, b}, {a, -1, -b}, {a, -b, 1}, {-a, -b, -1}};
    const float *at = from[threadIdx.x / 16];
    out[threadIdx.x] = texCubemap<float>(t, at[0], at[1], at[2]);
}
__global__ void from_colours(cudaTextureObject_t t, float4 *out)
{
    out[0] = tex2D<float4>(t, 0.5f, 0.5f);
    out[1] = tex2D<float4>(t, 1.0f, -2.0f);
    out[2] = tex2Dgather<float4>(t, 0, 0.6f, 3);
}
__global__ void from_levels(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, threadIdx.x * 0.25f - 1);
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

static cudaTextureObject_t texture_of(cudaResourceDesc resource, cudaTextureFilterMode filter, int normalized)
{
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    how.filterMode = how.mipmapFilterMode = filter;
    how.normalizedCoords = normalized;
    how.maxMipmapLevelClamp = 9;
    for (int i = 0; i < 3; i++)
        how.addressMode[i] = cudaAddressModeClamp;
    cudaCreateTextureObject(&texture, &resource, &how, NULL);
    return texture;
}

static void to_array(cudaArray_t array, const float *from, cudaExtent size)
{
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr((void *)from, size.width * sizeof(float), size.width * sizeof(float), size.height);
    copy.dstArray = array;
    copy.extent = size;
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
}

static int differ(const float *out, const float *wanted, int count, float between)
{
    int wrong = 0;
    cudaMemcpy(seen, out, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++)
        wrong += (&seen[0][0])[i] != wanted[i] + between;
    return wrong;
}

/* arrays of 4 x 4 x 6 elements: a solid, layers, a cube */
static void arrays(float *out)
{
    const unsigned kinds[] = {0, cudaArrayLayered, cudaArrayCubemap};
    const cudaExtent size = make_cudaExtent(4, 4, 6);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    const float *flat = &image[0][0];
    for (int kind = 0; kind < 3; kind++) {
        cudaResourceDesc resource = {};
        cudaMalloc3DArray(&resource.res.array.array, &format, size, kinds[kind]);
        to_array(resource.res.array.array, flat, size);
        cudaTextureObject_t texture = texture_of(resource, cudaFilterModeLinear, kind == 2);
        if (kind == 0) {
            from_solid<<<1, 24>>>(texture, 1, out); /* half-way between columns 0 and 1 */
            for (int i = 0; i < 24; i++)
                (&image[HEIGHT - 1][0])[i] = image[0][0] + i * 4 * 0.5f;
            printf("solid wrong %d\n", differ(out, image[HEIGHT - 1], 24, 0.25f));
        } else if (kind == 1) {
            from_layers<<<1, 96>>>(texture, out);
            printf("layers wrong %d\n", differ(out, flat, 96, 0));
        } else {
            from_cube<<<1, 96>>>(texture, out);
            printf("cube wrong %d\n", differ(out, flat, 96, 0));
        }
        cudaMemcpy3DParms copy = {};
        copy.srcArray = resource.res.array.array;
        copy.srcPos = make_cudaPos(1, 2, 3);
        copy.dstPtr = make_cudaPitchedPtr(seen, 8, 8, 1);
        copy.extent = make_cudaExtent(2, 1, 2);
        copy.kind = cudaMemcpyDeviceToHost;
        cudaMemcpy3D(&copy);
        printf("box %g %g %g\n", seen[0][0], seen[0][1], seen[0][2]);
        copy.srcPos.z = 5;
        printf("%s\n", cudaGetErrorName(cudaMemcpy3D(&copy)));
    }
}

static void levels(float *out)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    cudaMallocMipmappedArray(&resource.res.mipmap.mipmap, &format, make_cudaExtent(4, 4, 0), 9);
    float values[16];
    for (int level = 0; level < 3; level++) {
        cudaArray_t own;
        cudaGetMipmappedArrayLevel(&own, resource.res.mipmap.mipmap, level);
        for (int i = 0; i < 16; i++)
            values[i] = level * level;
        cudaMemcpy2DToArray(own, 0, 0, values, (4 >> level) * 4, (4 >> level) * 4, 4 >> level, cudaMemcpyHostToDevice);
    }
    for (int filter = 0; filter < 2; filter++) {
        from_levels<<<1, 16>>>(texture_of(resource, (cudaTextureFilterMode)filter, 1), out);
        cudaMemcpy(seen, out, 16 * sizeof(float), cudaMemcpyDeviceToHost);
        printf("levels");
        for (int i = 0; i < 16; i += 3)
            printf(" %g", seen[0][i]);
        printf("\n");
    }
    cudaFreeMipmappedArray(resource.res.mipmap.mipmap);
}

// 8-bit sRGB texels with a border, gathered and read; the channels of the first texel, outside, the fourth channels
static void colours(float *out)
{
    uchar4 texels[2] = {make_uchar4(255, 128, 10, 51), make_uchar4(0, 0, 0, 102)};
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    float seen[3][4];
    cudaMallocArray(&resource.res.array.array, &format, 2, 1, cudaArrayTextureGather);
    cudaMemcpy2DToArray(resource.res.array.array, 0, 0, texels, sizeof texels, sizeof texels, 1, cudaMemcpyHostToDevice);
    how.readMode = cudaReadModeNormalizedFloat;
    how.sRGB = 1;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
    how.borderColor[0] = 0.5f;
    how.borderColor[3] = 3;
    cudaCreateTextureObject(&texture, &resource, &how, NULL);
    from_colours<<<1, 1>>>(texture, (float4 *)out);
    cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost);
    for (auto &each : seen)
        printf("colours %.4g %.4g %.4g %.4g\n", each[0], each[1], each[2], each[3]);
    how.readMode = cudaReadModeElementType;
    how.sRGB = 0;
    printf("%s\n", cudaGetErrorName(cudaCreateTextureObject(&texture, &resource, &how, NULL)));
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
    cudaArray_t sparse;
    printf("%s\n", cudaGetErrorName(cudaMalloc3DArray(&sparse, &format, make_cudaExtent(8, 8, 6), cudaArraySparse)));
    arrays(out);
    levels(out);
    colours(out);
    return 0;
}
