/* Defines the macros of cost_kernel.h for OpenCL C 1.2. device_shape.h and cost_kernel.h follow
 * this file in the source passed to the device's compiler. */
#define WIDE          long
#define COST_INFINITE 0x3fffffff
#define DEVICE        static
#define KERNEL        __kernel __attribute__((reqd_work_group_size(DEVICE_THREADS, 1, 1)))
#define GLOBAL        __global
#define LOCAL         __local
#define LOCAL_ARRAY   __local
#define PRIVATE       __private
#define BARRIER()     barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define GROUP(axis)   ((int)get_group_id(axis))
#define THREAD        ((int)get_local_id(0))
#define UNROLL        _Pragma("unroll")
#define MAX(a, b)     max(a, b)
#define LOG2(n)       (31 - (int)clz(n))
#define LEAST_SUM(a, b, best) min((a) + (b), best)
