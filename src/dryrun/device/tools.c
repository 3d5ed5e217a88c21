/* NVML, the runtime compiler and the profiler's interface. */
#include <stdio.h>
#include <string.h>

#include "dryrun/device/state.h"

/* NVML. */

enum { NVML_NOT_SUPPORTED = 3 };

API int nvmlInit(void)
{
    machine_start();
    return CUDA_OK;
}

API int nvmlInit_v2(void)
{
    machine_start();
    return CUDA_OK;
}

API int nvmlShutdown(void)
{
    return CUDA_OK;
}

API int nvmlDeviceGetCount_v2(unsigned *count)
{
    machine_start();
    *count = (unsigned)machine.device_count;
    return CUDA_OK;
}

/* Handles of devices are their numbers and one. */
API int nvmlDeviceGetHandleByIndex_v2(unsigned index, uintptr_t *handle)
{
    *handle = index + 1;
    return CUDA_OK;
}

API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, uintptr_t *handle)
{
    unsigned domain, number = 1;
    if (sscanf(bus, "%x:%x", &domain, &number) != 2)
        number = 1;
    *handle = number;
    return CUDA_OK;
}

API int nvmlDeviceGetUUID(uintptr_t handle, char *text, unsigned size)
{
    snprintf(text, size, "GPU-5a000000-0000-0000-0000-0000000000%02x", (unsigned)handle & 0xff);
    return CUDA_OK;
}

API int nvmlDeviceGetName(uintptr_t handle, char *text, unsigned size)
{
    machine_start();
    snprintf(text, size, "%s", machine.card.product);
    return CUDA_OK;
}

API int nvmlDeviceGetMemoryInfo(uintptr_t handle, uint64_t *info)
{
    machine_start();
    const struct device *device = &machine.devices[(handle - 1) % DEVICES_MOST];
    info[0] = machine.card.bytes;
    info[2] = machine.other + device->used;
    info[1] = info[2] > info[0] ? 0 : info[0] - info[2];
    return CUDA_OK;
}

API int nvmlDeviceGetComputeRunningProcesses(uintptr_t handle, unsigned *count)
{
    *count = 0;
    return CUDA_OK;
}

API int nvmlDeviceGetComputeRunningProcesses_v2(uintptr_t handle, unsigned *count)
{
    return nvmlDeviceGetComputeRunningProcesses(handle, count);
}

API int nvmlDeviceGetComputeRunningProcesses_v3(uintptr_t handle, unsigned *count)
{
    return nvmlDeviceGetComputeRunningProcesses(handle, count);
}

API int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = machine.runtime_version;
    return CUDA_OK;
}

API int nvmlDeviceGetNvLinkRemoteDeviceType(void)
{
    return NVML_NOT_SUPPORTED;
}

API int nvmlDeviceGetNvLinkRemotePciInfo_v2(void)
{
    return NVML_NOT_SUPPORTED;
}

API int nvmlDeviceGetGpuFabricInfoV(void)
{
    return NVML_NOT_SUPPORTED;
}

API const char *nvmlErrorString(int status)
{
    return status ? "Not Supported" : "Success";
}

/* The runtime compiler: programs compile to nothing. */

static char program; /* any address */

API int nvrtcVersion(int *major, int *minor)
{
    *major = machine.runtime_version / 1000;
    *minor = machine.runtime_version % 1000 / 10;
    return CUDA_OK;
}

API int nvrtcGetNumSupportedArchs(int *count)
{
    *count = 1;
    return CUDA_OK;
}

API int nvrtcGetSupportedArchs(int *architecture)
{
    *architecture = machine.card.major * 10 + machine.card.minor;
    return CUDA_OK;
}

API int nvrtcCreateProgram(void **made)
{
    *made = &program;
    return CUDA_OK;
}

API int nvrtcCompileProgram(void)
{
    return CUDA_OK;
}

API int nvrtcAddNameExpression(void)
{
    return CUDA_OK;
}

API int nvrtcGetPTXSize(void *of, size_t *size)
{
    *size = 1;
    return CUDA_OK;
}

API int nvrtcGetCUBINSize(void *of, size_t *size)
{
    return nvrtcGetPTXSize(of, size);
}

API int nvrtcGetProgramLogSize(void *of, size_t *size)
{
    return nvrtcGetPTXSize(of, size);
}

API int nvrtcGetPTX(void *of, char *text)
{
    *text = '\0';
    return CUDA_OK;
}

API int nvrtcGetCUBIN(void *of, char *code)
{
    return nvrtcGetPTX(of, code);
}

API int nvrtcGetProgramLog(void *of, char *text)
{
    return nvrtcGetPTX(of, text);
}

API int nvrtcGetLoweredName(void *of, const char *name, const char **lowered)
{
    *lowered = name;
    return CUDA_OK;
}

API const char *nvrtcGetErrorString(int status)
{
    return status ? "NVRTC_ERROR" : "NVRTC_SUCCESS";
}

/* The profiler's interface: it has nothing to report. */

enum { CUPTI_MAX_LIMIT_REACHED = 12, CUPTI_NOT_INITIALIZED = 15 };

API int cuptiGetVersion(uint32_t *version)
{
    *version = (uint32_t)machine.runtime_version / 1000 * 10000;
    return CUDA_OK;
}

API int cuptiGetTimestamp(uint64_t *nanoseconds)
{
    *nanoseconds = 0;
    return CUDA_OK;
}

API int cuptiGetResultString(int status, const char **text)
{
    *text = status ? "CUPTI_ERROR" : "CUPTI_SUCCESS";
    return CUDA_OK;
}

API int cuptiActivityGetNextRecord(void)
{
    return CUPTI_MAX_LIMIT_REACHED;
}

API int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
    *count = 0;
    return CUDA_OK;
}

API int cuptiSubscribe(void)
{
    return CUPTI_NOT_INITIALIZED;
}

API int cuptiGetCallbackName(int domain, uint32_t id, const char **name)
{
    *name = "";
    return CUDA_OK;
}
