// c = alpha a b + beta c of single precision, n x n, a and c by columns, b by rows: the layout of CLBlast's Xgemm, written
// here from its description. A block of ACROSS x DOWN threads has a tile of TILE_M x TILE_N results; a thread has
// neighbouring ones, TILE_M / ACROSS by TILE_N / DOWN, in words of WORDS_M and WORDS_N floats. Of DEPTH steps at a time, a
// and b come through shared memory where SHARED_A and SHARED_B are 1: FETCH_M and FETCH_N threads fetch a step of them.

template <int COUNT> struct __align__(COUNT < 4 ? 4 * COUNT : 16) Words {
    float at[COUNT];
};
typedef Words<WORDS_M> WordM;
typedef Words<WORDS_N> WordN;

enum {
    OWN_M = TILE_M / ACROSS / WORDS_M, // words of a thread
    OWN_N = TILE_N / DOWN / WORDS_N,
    ROW_M = TILE_M / WORDS_M, // words of a step
    ROW_N = TILE_N / WORDS_N,
    STEPS_M = DEPTH * FETCH_M / (ACROSS * DOWN), // that a thread fetches
    STEPS_N = DEPTH * FETCH_N / (ACROSS * DOWN),
    UNROLLED = 2
};

// A step is fetched by EACH threads, WIDE / EACH words by each; a thread fetches STEPS of them.
template <class Word, int WIDE, int EACH, int STEPS>
__device__ __forceinline__ void stage(Word *tile, const Word *from, int pitch, int thread) {
    const int place = thread % EACH, first = thread / EACH;
#pragma unroll
    for (int word = 0; word < WIDE / EACH; ++word) {
#pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            const int k = step + first * STEPS, i = word + place * (WIDE / EACH);
            tile[k * WIDE + i] = from[k * pitch + i];
        }
    }
}

extern "C" __global__ __launch_bounds__(ACROSS *DOWN) void product(int m, int n, int depth, float alpha, float beta,
                                                                  const WordM *__restrict__ a,
                                                                  const WordN *__restrict__ b, WordM *c) {
    __shared__ WordM tile_a[SHARED_A ? DEPTH * ROW_M : 1];
    __shared__ WordN tile_b[SHARED_B ? DEPTH * ROW_N : 1];
    const int x = threadIdx.x, y = threadIdx.y;
    volatile int thread = x + ACROSS * y; // read again in each round
    const int pitch_a = m / WORDS_M, pitch_b = n / WORDS_N;
    a += blockIdx.x * ROW_M;
    b += blockIdx.y * ROW_N;
    float sums[OWN_N * WORDS_N][OWN_M * WORDS_M] = {};
    for (int start = 0; start < depth; start += DEPTH) {
        if (SHARED_A)
            stage<WordM, ROW_M, FETCH_M, STEPS_M>(tile_a, a + start * pitch_a, pitch_a, thread);
        if (SHARED_B)
            stage<WordN, ROW_N, FETCH_N, STEPS_N>(tile_b, b + start * pitch_b, pitch_b, thread);
        if (SHARED_A || SHARED_B)
            __syncthreads();
        for (int round = 0; round < DEPTH; round += UNROLLED) {
#pragma unroll
            for (int each = 0; each < UNROLLED; ++each) {
                const int k = round + each;
                WordM left[OWN_M];
                WordN right[OWN_N];
#pragma unroll
                for (int i = 0; i < OWN_M; ++i)
                    left[i] = SHARED_A ? tile_a[k * ROW_M + i + x * OWN_M] : a[(start + k) * pitch_a + i + x * OWN_M];
#pragma unroll
                for (int j = 0; j < OWN_N; ++j)
                    right[j] = SHARED_B ? tile_b[k * ROW_N + j + y * OWN_N] : b[(start + k) * pitch_b + j + y * OWN_N];
#pragma unroll
                for (int j = 0; j < OWN_N * WORDS_N; ++j) {
#pragma unroll
                    for (int i = 0; i < OWN_M * WORDS_M; ++i)
                        sums[j][i] += left[i / WORDS_M].at[i % WORDS_M] * right[j / WORDS_N].at[j % WORDS_N];
                }
            }
        }
        if (SHARED_A || SHARED_B)
            __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < OWN_N * WORDS_N; ++j) {
#pragma unroll
        for (int i = 0; i < OWN_M; ++i) {
            WordM &word = c[(blockIdx.y * TILE_N + y * OWN_N * WORDS_N + j) * pitch_a + blockIdx.x * ROW_M + x * OWN_M + i];
            WordM old = word, result;
#pragma unroll
            for (int each = 0; each < WORDS_M; ++each)
                result.at[each] = alpha * sums[j][i * WORDS_M + each] + beta * old.at[each];
            word = result;
        }
    }
}
