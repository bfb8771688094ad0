"""Replacements for host headers that device code includes: NVRTC ships CUDA's headers, not the C library's.

The functions of the C library are built in; its macros and types, and the C++ library, come from libcu++,
which NVRTC carries.
"""

_MATH = """#pragma once
#define HUGE_VALF __int_as_float(0x7f800000)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#define INFINITY HUGE_VALF
#define NAN __int_as_float(0x7fffffff)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
"""

_MATH_FUNCTIONS = (
    "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor "
    "fma fmax fmin fmod frexp hypot ilogb ldexp lgamma log log10 log1p log2 logb lrint lround modf nearbyint pow "
    "remainder rint round scalbn sin sinh sqrt tan tanh tgamma trunc isnan isinf isfinite signbit"
)

_CMATH = '#pragma once\n#include "math.h"\nnamespace std {\n' + "".join(
    f"using ::{name};\n" for name in _MATH_FUNCTIONS.split()
) + "}\n"  # fmt: skip

_ALGORITHM = """#pragma once
namespace std {
template <class T> constexpr __host__ __device__ const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr __host__ __device__ const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> constexpr __host__ __device__ const T& clamp(const T& x, const T& low, const T& high) {
  return x < low ? low : high < x ? high : x;
}
}
"""

_CUDA = """#pragma once
typedef struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; } CUtensorMap;
"""

_LIBCUXX = (
    "array bit bitset complex concepts expected functional initializer_list iterator limits memory mdspan numbers "
    "numeric optional ratio span tuple type_traits utility variant"
)

_CUB_BLOCKS = (
    "adjacent_difference discontinuity exchange histogram load merge_sort radix_rank radix_sort reduce "
    "run_length_decode scan shuffle store"
)
_CUB_WARPS = "exchange load merge_sort reduce scan store"

_C_TWINS = ("stdint", "limits", "float", "stddef")

STAND_INS: dict[str, str] = {
    "cuda_runtime.h": "",
    "cuda_runtime_api.h": "",
    "cuda.h": _CUDA,
    "device_launch_parameters.h": "",
    "assert.h": "",
    "cassert": "",
    "math.h": _MATH,
    "cmath": _CMATH,
    "algorithm": _ALGORITHM,
    "cub/cub.cuh": "".join(
        f"#include <cub/{level}/{level}_{name}.cuh>\n"
        for level, names in (("block", _CUB_BLOCKS), ("warp", _CUB_WARPS))
        for name in names.split()
    ),
    **{f"{name}.h": f"#pragma once\n#include <cuda/std/c{name}>\n" for name in _C_TWINS},
    **{f"c{name}": f'#include "{name}.h"\n' for name in _C_TWINS},
    **{
        name: f"#pragma once\n#include <cuda/std/{name}>\nnamespace std {{ using namespace ::cuda::std; }}\n"
        for name in _LIBCUXX.split()
    },
}

FOR_STD = frozenset(_LIBCUXX.split())  # needed only by code that names std

_OF_C = (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
    "stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype"
)
_OF_CXX = (
    "algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable "
    "coroutine deque exception execution expected filesystem format forward_list fstream functional future generator "
    "initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map mdspan memory "
    "memory_resource mutex new numbers numeric optional ostream print queue random ranges ratio regex scoped_allocator "
    "semaphore set shared_mutex source_location span sstream stack stacktrace stdexcept stop_token streambuf string "
    "string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map "
    "unordered_set utility valarray variant vector version"
)
_OF_SYSTEMS = (
    "unistd.h pthread.h fcntl.h dirent.h dlfcn.h getopt.h strings.h semaphore.h sched.h termios.h netdb.h poll.h "
    "sys/time.h sys/stat.h sys/types.h sys/resource.h sys/mman.h sys/socket.h sys/wait.h sys/ioctl.h sys/un.h "
    "sys/utsname.h sys/param.h sys/sysinfo.h sys/times.h arpa/inet.h netinet/in.h linux/types.h malloc.h memory.h "
    "alloca.h error.h values.h io.h direct.h process.h conio.h intrin.h tchar.h immintrin.h xmmintrin.h emmintrin.h "
    "x86intrin.h"
)
STANDARD = frozenset(  # headers of C, C++ and operating systems, which no project has
    [*(f"{name}.h" for name in _OF_C.split()), *(f"c{name}" for name in _OF_C.split()), *_OF_CXX.split(),
     *_OF_SYSTEMS.split()]
)  # fmt: skip
