/* Defines the macros of cost_kernel.h for CUDA C++. */
#define WIDE          long long
#define COST_INFINITE 0x3fffffff
#define DEVICE        static __device__ __forceinline__
#define KERNEL        extern "C" __global__ __launch_bounds__(DEVICE_THREADS)
#define GLOBAL
#define LOCAL
#define LOCAL_ARRAY   __shared__
#define PRIVATE
#define BARRIER()     __syncthreads()
#define GROUP(axis)   ((int)((axis) == 0 ? blockIdx.x : (axis) == 1 ? blockIdx.y : blockIdx.z))
#define THREAD        ((int)threadIdx.x)
#define UNROLL        _Pragma("unroll")
#define MAX(a, b)     max(a, b)
#define LOG2(n)       (31 - __clz(n))
#define LEAST_SUM(a, b, best) __viaddmin_s32(a, b, best) /* one instruction from sm_90 on */

#include "solve/backend/device_shape.h"

#include "solve/backend/cost_kernel.h"
