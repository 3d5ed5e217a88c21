/* A library that libtorch_cuda.so is linked with, so that it wants versions of functions. It is
 * never loaded. */
#define NOTHING(function)                                                                          \
    int function(void);                                                                            \
    int function(void)                                                                             \
    {                                                                                              \
        return -1;                                                                                 \
    }
NOTHING(cudaMalloc)
NOTHING(cudaFree)
NOTHING(cudaMemGetInfo)
NOTHING(cudaGetDeviceCount)
NOTHING(cudaMemcpy)
NOTHING(cudaLaunchKernel)
NOTHING(cusparseCreateThing)
NOTHING(cusparseGetThing)
NOTHING(cusparseCreateOther)
NOTHING(cublasFrobnicate)
