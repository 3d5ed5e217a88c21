/* The CUDA back end. */
#ifndef MEMSNAP_SOLVE_CUDA_CUDA_H
#define MEMSNAP_SOLVE_CUDA_CUDA_H

#include "solve/backend/backend.h"

extern const struct backend backend_cuda;

/* The compiled kernels, made from kernel.cu by nvcc. The size is 0 in a build without nvcc. */
extern const unsigned char cuda_image[];
extern const size_t cuda_image_size;

#endif
