"""Properties and attributes of the emulated GPU, as cudaGetDeviceProperties and cudaDeviceGetAttribute give them.

Source   Fields, their order and types: `struct cudaDeviceProp` of the headers of CUDA 11.8, 12.9 and 13.0; numbers of
         attributes: `enum cudaDeviceAttr`. Values come from the catalogue of boards; what it does not have is that of
         the CUDA C++ Programming Guide for compute capability 7.5 and later (grid, block, textures).
"""

import struct

from warpbound.machine import Gpu, clock
from warpbound.memory.l2_priorities import set_aside_bytes

_GRID, _BLOCK = (2**31 - 1, 65535, 65535), (1024, 1024, 64)
_TEXTURES = {
    "maxTexture1D": (131072,), "maxTexture1DMipmap": (32768,), "maxTexture1DLinear": (268435456,),
    "maxTexture2D": (131072, 65536), "maxTexture2DMipmap": (32768, 32768),
    "maxTexture2DLinear": (131072, 65000, 2097120), "maxTexture2DGather": (32768, 32768),
    "maxTexture3D": (16384, 16384, 16384), "maxTexture3DAlt": (8192, 8192, 32768),
    "maxTextureCubemap": (32768,), "maxTexture1DLayered": (32768, 2048), "maxTexture2DLayered": (32768, 32768, 2048),
    "maxTextureCubemapLayered": (32768, 2046), "maxSurface1D": (32768,), "maxSurface2D": (131072, 65536),
    "maxSurface3D": (16384, 16384, 16384), "maxSurface1DLayered": (32768, 2048),
    "maxSurface2DLayered": (32768, 32768, 2048), "maxSurfaceCubemap": (32768,),
    "maxSurfaceCubemapLayered": (32768, 2046),
}  # fmt: skip
# Fields in order: name and type as in `struct` (i int, I unsigned, Q size_t, Ns characters; 3i: three of them).
_BEGIN = """name:256s uuid:16s luid:8s luidDeviceNodeMask:I totalGlobalMem:Q sharedMemPerBlock:Q regsPerBlock:i
warpSize:i memPitch:Q maxThreadsPerBlock:i maxThreadsDim:3i maxGridSize:3i"""
_CLOCK_11, _AFTER_CLOCK = "clockRate:i", "totalConstMem:Q major:i minor:i textureAlignment:Q texturePitchAlignment:Q"
_SM_11, _SM_13 = "deviceOverlap:i multiProcessorCount:i kernelExecTimeoutEnabled:i", "multiProcessorCount:i"
_MAP = "integrated:i canMapHostMemory:i"
_TEXTURE_FIELDS = """maxTexture1D:i maxTexture1DMipmap:i {linear} maxTexture2D:2i maxTexture2DMipmap:2i
maxTexture2DLinear:3i maxTexture2DGather:2i maxTexture3D:3i maxTexture3DAlt:3i maxTextureCubemap:i
maxTexture1DLayered:2i maxTexture2DLayered:3i maxTextureCubemapLayered:2i maxSurface1D:i maxSurface2D:2i maxSurface3D:3i
maxSurface1DLayered:2i maxSurface2DLayered:3i maxSurfaceCubemap:i maxSurfaceCubemapLayered:2i surfaceAlignment:Q"""
_PCI = """concurrentKernels:i ECCEnabled:i pciBusID:i pciDeviceID:i pciDomainID:i tccDriver:i asyncEngineCount:i
unifiedAddressing:i"""
_MEMORY = "memoryBusWidth:i l2CacheSize:i persistingL2CacheMaxSize:i maxThreadsPerMultiProcessor:i"
_SM = """streamPrioritiesSupported:i globalL1CacheSupported:i localL1CacheSupported:i sharedMemPerMultiprocessor:Q
regsPerMultiprocessor:i managedMemory:i isMultiGpuBoard:i multiGpuBoardGroupID:i hostNativeAtomicSupported:i"""
_RATIO_11 = "singleToDoublePrecisionPerfRatio:i"
_LATE = """pageableMemoryAccess:i concurrentManagedAccess:i computePreemptionSupported:i
canUseHostPointerForRegisteredMem:i cooperativeLaunch:i"""
_MULTI_11 = "cooperativeMultiDeviceLaunch:i"
_END = """sharedMemPerBlockOptin:Q pageableMemoryAccessUsesHostPageTables:i directManagedMemAccessFromHost:i
maxBlocksPerMultiProcessor:i accessPolicyMaxWindowSize:i reservedSharedMemPerBlock:Q"""
_FROM_12 = """hostRegisterSupported:i sparseCudaArraySupported:i hostRegisterReadOnlySupported:i
timelineSemaphoreInteropSupported:i memoryPoolsSupported:i gpuDirectRDMASupported:i gpuDirectRDMAFlushWritesOptions:I
gpuDirectRDMAWritesOrdering:i memoryPoolSupportedHandleTypes:I deferredMappingCudaArraySupported:i ipcEventSupported:i
clusterLaunch:i unifiedFunctionPointers:i"""


def _layout(release: int) -> list[tuple[str, str]]:
    old = release < 13
    parts = [
        _BEGIN, _CLOCK_11 * old, _AFTER_CLOCK, _SM_11 if old else _SM_13, _MAP, "computeMode:i" * old,
        _TEXTURE_FIELDS.format(linear="maxTexture1DLinear:i" * old), _PCI, "memoryClockRate:i" * old, _MEMORY, _SM,
        _RATIO_11 * old, _LATE, _MULTI_11 * old, _END, _FROM_12 * (release >= 12),
    ]  # fmt: skip
    fields = (field.partition(":") for part in parts for field in part.split())
    return [(name, kind) for name, _, kind in fields]


def device_properties(board: Gpu, release: int) -> bytes:
    """The struct as programs of a CUDA release read it, up to the last known field."""
    values = _values(board)
    raw = bytearray()
    for name, kind in _layout(release):
        unit = kind[-1]
        size = struct.calcsize(unit)
        raw += bytes(-len(raw) % size)
        raw += struct.pack(f"<{kind}", *values.get(name, _nothing(kind)))
    return bytes(raw)


def _nothing(kind: str) -> tuple[bytes | int, ...]:
    return (b"",) if kind.endswith("s") else (0,) * int(kind[:-1] or 1)


def _values(board: Gpu) -> dict[str, tuple[bytes | int, ...]]:
    limits = board.limits
    optin = limits.max_shared_per_block
    return _TEXTURES | {
        "name": (board.name.encode(),), "uuid": (board.key.encode()[:16],),
        "totalGlobalMem": (capacity(board),), "sharedMemPerBlock": (limits.default_shared_per_block,),
        "regsPerBlock": (limits.max_registers_per_block,), "warpSize": (limits.warp_size,), "memPitch": (2**31 - 1,),
        "maxThreadsPerBlock": (limits.max_threads_per_block,), "maxThreadsDim": _BLOCK, "maxGridSize": _GRID,
        "clockRate": (int(clock(board, "boost") / 1e3),), "totalConstMem": (65536,), "major": (board.arch // 10,),
        "minor": (board.arch % 10,), "textureAlignment": (512,), "texturePitchAlignment": (32,), "deviceOverlap": (1,),
        "multiProcessorCount": (int(board.value("sm_count")),), "canMapHostMemory": (1,), "surfaceAlignment": (512,),
        "concurrentKernels": (1,), "ECCEnabled": (1,), "pciBusID": (1,), "asyncEngineCount": (2,),
        "unifiedAddressing": (1,), "memoryClockRate": (int(board.value("dram_data_rate") / 2e3),),
        "memoryBusWidth": (int(board.value("dram_bus")),), "l2CacheSize": (int(board.value("l2_size")),),
        "maxThreadsPerMultiProcessor": (limits.max_threads_per_sm,), "streamPrioritiesSupported": (1,),
        "globalL1CacheSupported": (1,), "localL1CacheSupported": (1,),
        "sharedMemPerMultiprocessor": (limits.shared_per_sm,), "regsPerMultiprocessor": (limits.registers_per_sm,),
        "managedMemory": (1,), "singleToDoublePrecisionPerfRatio": (_single_to_double(board),),
        "concurrentManagedAccess": (1,), "computePreemptionSupported": (1,), "canUseHostPointerForRegisteredMem": (1,),
        "cooperativeLaunch": (1,), "sharedMemPerBlockOptin": (optin,),
        "maxBlocksPerMultiProcessor": (limits.max_blocks_per_sm,),
        "persistingL2CacheMaxSize": (set_aside_bytes(board),),
        "accessPolicyMaxWindowSize": (128 << 20 if board.arch >= 80 else 0,),
        "reservedSharedMemPerBlock": (limits.reserved_shared_per_block,), "hostRegisterSupported": (1,),
        "memoryPoolsSupported": (1,), "clusterLaunch": (int(board.arch >= 90),), "unifiedFunctionPointers": (1,),
    }  # fmt: skip


def capacity(board: Gpu) -> int:
    """Bytes of device memory."""
    return int(board.value("dram_size"))


def _single_to_double(board: Gpu) -> int:
    return 2 if board.arch in (60, 70, 80, 90, 100) else 32


# Attributes by number: the field of the struct that holds the same, and which of its values.
_ATTRIBUTES: dict[int, tuple[str, int]] = {
    1: ("maxThreadsPerBlock", 0), 2: ("maxThreadsDim", 0), 3: ("maxThreadsDim", 1), 4: ("maxThreadsDim", 2),
    5: ("maxGridSize", 0), 6: ("maxGridSize", 1), 7: ("maxGridSize", 2), 8: ("sharedMemPerBlock", 0),
    9: ("totalConstMem", 0), 10: ("warpSize", 0), 11: ("memPitch", 0), 12: ("regsPerBlock", 0), 13: ("clockRate", 0),
    14: ("textureAlignment", 0), 15: ("deviceOverlap", 0), 16: ("multiProcessorCount", 0), 18: ("integrated", 0),
    19: ("canMapHostMemory", 0), 21: ("maxTexture1D", 0), 22: ("maxTexture2D", 0), 23: ("maxTexture2D", 1),
    24: ("maxTexture3D", 0), 25: ("maxTexture3D", 1), 26: ("maxTexture3D", 2), 30: ("surfaceAlignment", 0),
    31: ("concurrentKernels", 0), 32: ("ECCEnabled", 0), 33: ("pciBusID", 0), 34: ("pciDeviceID", 0),
    36: ("memoryClockRate", 0), 37: ("memoryBusWidth", 0), 38: ("l2CacheSize", 0),
    39: ("maxThreadsPerMultiProcessor", 0), 40: ("asyncEngineCount", 0), 41: ("unifiedAddressing", 0),
    50: ("pciDomainID", 0), 51: ("texturePitchAlignment", 0), 75: ("major", 0), 76: ("minor", 0),
    78: ("streamPrioritiesSupported", 0), 79: ("globalL1CacheSupported", 0), 80: ("localL1CacheSupported", 0),
    81: ("sharedMemPerMultiprocessor", 0), 82: ("regsPerMultiprocessor", 0), 83: ("managedMemory", 0),
    84: ("isMultiGpuBoard", 0), 86: ("hostNativeAtomicSupported", 0), 87: ("singleToDoublePrecisionPerfRatio", 0),
    88: ("pageableMemoryAccess", 0), 89: ("concurrentManagedAccess", 0), 90: ("computePreemptionSupported", 0),
    91: ("canUseHostPointerForRegisteredMem", 0), 95: ("cooperativeLaunch", 0), 97: ("sharedMemPerBlockOptin", 0),
    99: ("hostRegisterSupported", 0), 106: ("maxBlocksPerMultiProcessor", 0), 108: ("persistingL2CacheMaxSize", 0),
    109: ("accessPolicyMaxWindowSize", 0), 111: ("reservedSharedMemPerBlock", 0),
    115: ("memoryPoolsSupported", 0), 120: ("clusterLaunch", 0),
}  # fmt: skip


def attribute(board: Gpu, number: int) -> int:
    """One attribute; 0 for those that only other devices have."""
    name, place = _ATTRIBUTES.get(number, ("", 0))
    values = _values(board).get(name, (0,))
    value = values[place]
    return value if isinstance(value, int) else 0
