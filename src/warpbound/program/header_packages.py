"""Which package has a header, for the sentence that states what is missing."""

import re

from warpbound.errors import InputError

_BY_PATTERN = (  # the first that matches
    (r"cublas(Lt|Xt|_v2|_api)?\.h", "cuBLAS", "pip install nvidia-cublas"),
    (r"curand\w*\.h", "cuRAND", "pip install nvidia-curand"),
    (r"cufft\w*\.h", "cuFFT", "pip install nvidia-cufft"),
    (r"cusparse\w*\.h", "cuSPARSE", "pip install nvidia-cusparse"),
    (r"cusolver\w*\.h", "cuSOLVER", "pip install nvidia-cusolver"),
    (r"npp\w*\.h", "NPP", "pip install nvidia-npp"),
    (r"nvjpeg\w*\.h", "nvJPEG", "pip install nvidia-nvjpeg"),
    (r"nvrtc\.h", "NVRTC", "pip install nvidia-cuda-nvrtc"),
    (r"nvJitLink\.h", "nvJitLink", "pip install nvidia-nvjitlink"),
    (r"nvml\.h", "NVML", "pip install nvidia-nvml-dev"),
    (r"cuda_?[pP]rofiler\w*\.h", "the CUDA profiler API", "pip install nvidia-cuda-profiler-api"),
    (r"nvtx3/.*|nvToolsExt\w*\.h", "NVTX", "pip install nvidia-nvtx"),
    (r"cudnn\w*\.h", "cuDNN", "pip install nvidia-cudnn-cu13"),
    (r"nccl\.h", "NCCL", "pip install nvidia-nccl-cu13"),
    (r"nvshmem\w*\.h", "NVSHMEM", "pip install nvidia-nvshmem-cu13"),
    (r"(thrust|cub|cuda/std|cuda|nv)/.*", "CCCL", "pip install nvidia-cuda-cccl"),
    (r"(cutlass|cute)/.*", "CUTLASS", "pip install nvidia-cutlass"),
    (r"(torch|ATen|c10|caffe2)/.*", "PyTorch", "pip install torch"),
    (r"pybind11/.*", "pybind11", "pip install pybind11"),
    (r"(rmm|raft|cudf|cuco|cugraph)/.*", "RAPIDS", "-I its include folder"),
    (
        r"helper_(cuda|functions|string|timer|image|math|cuda_drvapi)\.h", "NVIDIA's CUDA samples",
        "git clone https://github.com/NVIDIA/cuda-samples, then -I cuda-samples/Common",
    ),
    (r"Python\.h", "Python's headers", "apt install python3-dev"),
    (r"GL/(free)?glut\w*\.h", "freeglut", "apt install freeglut3-dev"),
    (r"GL/(glew|wglew)\.h", "GLEW", "apt install libglew-dev"),
    (r"GLFW/.*", "GLFW", "apt install libglfw3-dev"),
    (r"(GL|GLES\w*|KHR)/.*", "OpenGL", "apt install libgl-dev"),
    (r"EGL/.*", "EGL", "apt install libegl-dev"),
    (r"vulkan/.*", "Vulkan", "apt install libvulkan-dev"),
    (r"glm/.*", "GLM", "apt install libglm-dev"),
    (r"X11/.*", "X11", "apt install libx11-dev"),
    (r"(d3d|dxgi|dx|D3D|DXGI|DirectX|dynlink_)\w*\.h|([wW]indows|ddraw)\.h", "the Windows SDK", "analyze it there"),
    (r"(nvscibuf|nvscisync|nvscierror|nvsci\w*|nvmedia\w*|cudla)\.h", "NVIDIA's embedded SDK", "-I its folder"),
    (r"FreeImage\w*\.h", "FreeImage", "apt install libfreeimage-dev"),
    (r"opencv\d?/.*|cv\w*\.h", "OpenCV", "apt install libopencv-dev"),
    (r"mpi\.h", "MPI", "apt install libopenmpi-dev"),
    (r"omp\.h", "OpenMP", "apt install libomp-dev"),
    (r"Eigen/.*", "Eigen", "apt install libeigen3-dev"),
    (r"boost/.*", "Boost", "apt install libboost-dev"),
    (r"gtest/.*|gmock/.*", "GoogleTest", "apt install libgtest-dev"),
    (r"benchmark/benchmark\.h", "Google Benchmark", "apt install libbenchmark-dev"),
    (r"fmt/.*", "fmt", "apt install libfmt-dev"),
    (r"tbb/.*", "oneTBB", "apt install libtbb-dev"),
    (r"SDL2?/.*|SDL\.h", "SDL", "apt install libsdl2-dev"),
    (r"png\.h", "libpng", "apt install libpng-dev"),
    (r"(jpeglib|turbojpeg)\.h", "libjpeg", "apt install libjpeg-dev"),
    (r"zlib\.h", "zlib", "apt install zlib1g-dev"),
    (r"hip/.*|hip\w*\.h", "HIP", "analyze the CUDA version"),
)  # fmt: skip
GPU_LIBRARIES = frozenset({  # whose functions bring kernels of their own, which no emulated program can call
    "cuBLAS", "cuFFT", "cuSPARSE", "cuSOLVER", "NPP", "nvJPEG", "cuDNN", "NCCL", "NVSHMEM",
})  # fmt: skip


class MissingHeader(InputError):
    """A header that is nowhere; the sentence names it, who includes it and its package."""


def package_of(header: str) -> tuple[str, str] | None:
    """(package, how to get it) of a header as it is included; None for one that only a project itself can have."""
    return next(((package, way) for pattern, package, way in _BY_PATTERN if re.fullmatch(pattern, header)), None)


def sentence(header: str, includer: str) -> tuple[str, str]:
    """What is missing, and the remedy: the header, the file that includes it, the package that has it."""
    its_package = package_of(header)
    if its_package:
        package, way = its_package
        return f"{includer} includes <{header}>, a header of {package}, which is not here.", f"To get it: {way}."
    return (
        f"{includer} includes <{header}>, which is nowhere in its repository or in an installed package.",
        "Give its folder with -I FOLDER, or the build's folder with -p FOLDER.",
    )
