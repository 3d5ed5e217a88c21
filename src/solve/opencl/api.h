/* The part of OpenCL 1.2 that memsnap calls, with the names and values of its specification
 * (Khronos, "The OpenCL Specification", version 1.2). The build needs neither headers nor the
 * library. The ABI does not change. */
#ifndef MEMSNAP_SOLVE_OPENCL_API_H
#define MEMSNAP_SOLVE_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_event *cl_event;

enum {
    CL_SUCCESS = 0,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_BUILD_PROGRAM_FAILURE = -11,
    CL_INVALID_BUFFER_SIZE = -61,
    CL_PLATFORM_NOT_FOUND_KHR = -1001, /* returned by the loader: extension cl_khr_icd */
};

#define CL_DEVICE_TYPE_CPU            2
#define CL_DEVICE_TYPE_GPU            4
#define CL_DEVICE_TYPE_ACCELERATOR    8
#define CL_PLATFORM_NAME              0x0902
#define CL_DEVICE_MAX_COMPUTE_UNITS   0x1002
#define CL_DEVICE_MAX_WORK_GROUP_SIZE 0x1004
#define CL_DEVICE_MAX_MEM_ALLOC_SIZE  0x1010
#define CL_DEVICE_LOCAL_MEM_SIZE      0x1023
#define CL_DEVICE_AVAILABLE           0x1027
#define CL_DEVICE_COMPILER_AVAILABLE  0x1028
#define CL_DEVICE_NAME                0x102b
#define CL_PROGRAM_BUILD_LOG          0x1183
#define CL_MEM_READ_WRITE             1
#define CL_MEM_READ_ONLY              4
#define CL_MEM_COPY_HOST_PTR          32

/* X(name, result, parameters). Callbacks and parameters that are always NULL here are declared as
 * `const void *`. */
#define OPENCL_FUNCTIONS(X)                                                                        \
    X(clGetPlatformIDs, int32_t, (uint32_t, cl_platform_id *, uint32_t *))                         \
    X(clGetPlatformInfo, int32_t, (cl_platform_id, uint32_t, size_t, void *, size_t *))            \
    X(clGetDeviceIDs, int32_t, (cl_platform_id, uint64_t, uint32_t, cl_device_id *, uint32_t *))   \
    X(clGetDeviceInfo, int32_t, (cl_device_id, uint32_t, size_t, void *, size_t *))                \
    X(clCreateContext, cl_context,                                                                 \
      (const void *, uint32_t, const cl_device_id *, const void *, void *, int32_t *))             \
    X(clReleaseContext, int32_t, (cl_context))                                                     \
    X(clCreateCommandQueue, cl_command_queue, (cl_context, cl_device_id, uint64_t, int32_t *))     \
    X(clReleaseCommandQueue, int32_t, (cl_command_queue))                                          \
    X(clCreateProgramWithSource, cl_program,                                                       \
      (cl_context, uint32_t, const char **, const size_t *, int32_t *))                            \
    X(clBuildProgram, int32_t,                                                                     \
      (cl_program, uint32_t, const cl_device_id *, const char *, const void *, void *))            \
    X(clGetProgramBuildInfo, int32_t,                                                              \
      (cl_program, cl_device_id, uint32_t, size_t, void *, size_t *))                              \
    X(clReleaseProgram, int32_t, (cl_program))                                                     \
    X(clCreateKernel, cl_kernel, (cl_program, const char *, int32_t *))                            \
    X(clReleaseKernel, int32_t, (cl_kernel))                                                       \
    X(clSetKernelArg, int32_t, (cl_kernel, uint32_t, size_t, const void *))                        \
    X(clCreateBuffer, cl_mem, (cl_context, uint64_t, size_t, void *, int32_t *))                   \
    X(clReleaseMemObject, int32_t, (cl_mem))                                                       \
    X(clEnqueueNDRangeKernel, int32_t,                                                             \
      (cl_command_queue, cl_kernel, uint32_t, const size_t *, const size_t *, const size_t *,      \
       uint32_t, const cl_event *, cl_event *))                                                    \
    X(clEnqueueReadBuffer, int32_t,                                                                \
      (cl_command_queue, cl_mem, uint32_t, size_t, size_t, void *, uint32_t, const cl_event *,     \
       cl_event *))                                                                                \
    X(clFinish, int32_t, (cl_command_queue))

struct opencl_api {
#define FUNCTION(name, result, parameters) result(*name) parameters;
    OPENCL_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

#endif
