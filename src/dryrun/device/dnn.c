/* cuDNN's older interface: versions, sizes and tensors. */
#include <stdlib.h>
#include <string.h>

#include "dryrun/device/dnn.h"
#include "dryrun/device/state.h"

static int dnn_version(void)
{
    return machine.dnn_version ? machine.dnn_version : 90100;
}

API size_t cudnnGetVersion(void)
{
    return (size_t)dnn_version();
}

API size_t cudnnGetCudartVersion(void)
{
    return (size_t)machine.runtime_version;
}

/* Before version 9 the major version is in thousands. */
API int cudnnGetProperty(int property, int *value)
{
    int version = dnn_version(), major = version >= 90000 ? 10000 : 1000;
    *value = property == 0   ? version / major
             : property == 1 ? version % major / 100
                             : version % 100;
    return CUDA_OK;
}

API const char *cudnnGetErrorString(int status)
{
    return status ? "CUDNN_STATUS_INTERNAL_ERROR" : "CUDNN_STATUS_SUCCESS";
}

API void cudnnGetLastErrorString(char *text, size_t size)
{
    if (size > 0)
        *text = '\0';
}

API int cudnnGetStream(void *handle, void **stream)
{
    *stream = NULL;
    return CUDA_OK;
}

API int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void *handle, int mode, int fused,
                                                                 void *x, void *z, void *y,
                                                                 void *scale, void *activation,
                                                                 size_t *size)
{
    *size = 0;
    return CUDA_OK;
}

API int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void *handle, int mode, int fused,
                                                          void *x, void *y, void *dy, void *dz,
                                                          void *dx, void *scale, void *activation,
                                                          size_t *size)
{
    *size = 0;
    return CUDA_OK;
}

API int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void *handle, int mode, int fused,
                                                             void *activation, void *x,
                                                             size_t *size)
{
    *size = 0;
    return CUDA_OK;
}

/* The state of a random number generator for every thread that a GPU can run at once. */
API int cudnnDropoutGetStatesSize(void *handle, size_t *size)
{
    const size_t state = 8;
    machine_start();
    *size = (size_t)machine.card.multiprocessors * 1024 * state;
    return CUDA_OK;
}

/* Tensors. */

static int make_tensor(struct tensor **made)
{
    *made = calloc(1, sizeof(**made));
    return *made ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

void dnn_set_tensor(struct tensor *tensor, int type, int count, const int *dimensions)
{
    tensor->type = type;
    tensor->count = count > DIMENSIONS_MOST ? DIMENSIONS_MOST : count;
    memcpy(tensor->dimensions, dimensions, (size_t)tensor->count * sizeof(*dimensions));
}

API int cudnnCreateTensorDescriptor(struct tensor **made)
{
    return make_tensor(made);
}

API int cudnnCreateFilterDescriptor(struct tensor **made)
{
    return make_tensor(made);
}

API int cudnnSetTensorNdDescriptor(struct tensor *tensor, int type, int count,
                                   const int *dimensions)
{
    dnn_set_tensor(tensor, type, count, dimensions);
    return CUDA_OK;
}

API int cudnnSetFilterNdDescriptor(struct tensor *tensor, int type, int format, int count,
                                   const int *dimensions)
{
    dnn_set_tensor(tensor, type, count, dimensions);
    return CUDA_OK;
}

API int cudnnGetTensorNdDescriptor(const struct tensor *tensor, int wanted, int *type, int *count,
                                   int *dimensions, int *strides)
{
    int stride = 1;
    *type = tensor->type;
    *count = tensor->count;
    for (int i = tensor->count - 1; i >= 0; i--) {
        if (i < wanted)
            dimensions[i] = tensor->dimensions[i];
        if (i < wanted && strides)
            strides[i] = stride;
        stride *= tensor->dimensions[i];
    }
    return CUDA_OK;
}

API int cudnnGetFilterNdDescriptor(const struct tensor *tensor, int wanted, int *type, int *format,
                                   int *count, int *dimensions)
{
    *format = 0;
    return cudnnGetTensorNdDescriptor(tensor, wanted, type, count, dimensions, NULL);
}

/* A guess: the gradient of the probabilities once more. */
static int get_ctc_size(const struct tensor *probabilities, size_t *size)
{
    *size = sizeof(float);
    for (int i = 0; i < probabilities->count; i++)
        *size *= (size_t)probabilities->dimensions[i];
    return CUDA_OK;
}

API int cudnnGetCTCLossWorkspaceSize(void *handle, const struct tensor *probabilities,
                                     void *gradients, void *labels, void *label_lengths,
                                     void *input_lengths, int algorithm, void *loss, size_t *size)
{
    return get_ctc_size(probabilities, size);
}

API int cudnnGetCTCLossWorkspaceSize_v8(void *handle, int algorithm, void *loss,
                                        const struct tensor *probabilities, void *gradients,
                                        size_t *size)
{
    return get_ctc_size(probabilities, size);
}
