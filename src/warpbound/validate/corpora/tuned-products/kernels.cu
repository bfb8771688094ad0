// c = alpha a b + beta c of single precision, n x n, a and c by columns, b by rows: the layout of CLBlast's Xgemm, written
// here from its description. A block of ACROSS x DOWN threads has a tile of TILE_M x TILE_N results; a thread has
// neighbouring ones, TILE_M / ACROSS by TILE_N / DOWN, in words of WORDS_M and WORDS_N floats. Of DEPTH steps at a time, a
// and b come through shared memory where SHARED_A and SHARED_B are 1: FETCH_M and FETCH_N threads fetch a step of them.
// Indices are of 32 bits and contain the block's, and loops have the order, as there, because registers depend on both.

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
    WORDS_FETCHED_M = ROW_M / FETCH_M,
    WORDS_FETCHED_N = ROW_N / FETCH_N,
    UNROLLED = 2
};

extern "C" __global__ __launch_bounds__(ACROSS *DOWN) void product(int m, int n, int depth, float alpha, float beta,
                                                                  const WordM *__restrict__ a,
                                                                  const WordN *__restrict__ b, WordM *c) {
    __shared__ WordM tile_a[SHARED_A ? DEPTH * ROW_M : 1];
    __shared__ WordN tile_b[SHARED_B ? DEPTH * ROW_N : 1];
    const int x = threadIdx.x, y = threadIdx.y, block_x = blockIdx.x, block_y = blockIdx.y;
    volatile int thread = x + ACROSS * y; // read again in each round
    float sums[OWN_N * WORDS_N][OWN_M * WORDS_M] = {};
    for (int start = 0; start < depth; start += DEPTH) {
        if (SHARED_A) {
            const int fetching = thread, place = fetching % FETCH_M, first = fetching / FETCH_M;
#pragma unroll
            for (int word = 0; word < WORDS_FETCHED_M; ++word) {
#pragma unroll
                for (int step = 0; step < STEPS_M; ++step) {
                    const int k = step + first * STEPS_M, i = word + place * WORDS_FETCHED_M;
                    tile_a[k * ROW_M + i] = a[(k + start) * (m / WORDS_M) + (i + block_x * ROW_M)];
                }
            }
        }
        if (SHARED_B) {
            const int fetching = thread, place = fetching % FETCH_N, first = fetching / FETCH_N;
#pragma unroll
            for (int step = 0; step < STEPS_N; ++step) {
#pragma unroll
                for (int word = 0; word < WORDS_FETCHED_N; ++word) {
                    const int k = step + first * STEPS_N, j = word + place * WORDS_FETCHED_N;
                    tile_b[k * ROW_N + j] = b[(k + start) * (n / WORDS_N) + (j + block_y * ROW_N)];
                }
            }
        }
        if (SHARED_A || SHARED_B)
            __syncthreads();
        for (int round = 0; round < DEPTH; round += UNROLLED) {
#pragma unroll
            for (int each = 0; each < UNROLLED; ++each) {
                const int k = round + each;
                WordM left[OWN_M];
                WordN right[OWN_N];
#pragma unroll
                for (int i = 0; i < OWN_M; ++i) {
                    const int word = i + x * OWN_M;
                    left[i] = SHARED_A ? tile_a[k * ROW_M + word]
                                       : a[(start + k) * (m / WORDS_M) + (word + block_x * ROW_M)];
                }
#pragma unroll
                for (int j = 0; j < OWN_N; ++j) {
                    const int word = j + y * OWN_N;
                    right[j] = SHARED_B ? tile_b[k * ROW_N + word]
                                        : b[(start + k) * (n / WORDS_N) + (word + block_y * ROW_N)];
                }
#pragma unroll
                for (int j = 0; j < OWN_N; ++j) {
#pragma unroll
                    for (int i = 0; i < OWN_M; ++i) {
#pragma unroll
                        for (int of_j = 0; of_j < WORDS_N; ++of_j) {
#pragma unroll
                            for (int of_i = 0; of_i < WORDS_M; ++of_i)
                                sums[j * WORDS_N + of_j][i * WORDS_M + of_i] += left[i].at[of_i] * right[j].at[of_j];
                        }
                    }
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
            const int down = j + y * OWN_N * WORDS_N + block_y * TILE_N;
            WordM &word = c[down * (m / WORDS_M) + (i + x * OWN_M + block_x * ROW_M)];
            WordM old = word, result;
#pragma unroll
            for (int each = 0; each < WORDS_M; ++each)
                result.at[each] = alpha * sums[j][i * WORDS_M + each] + beta * old.at[each];
            word = result;
        }
    }
}
