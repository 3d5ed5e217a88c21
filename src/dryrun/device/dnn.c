/* cuDNN's older interface, with recurrent networks: sizes, and where weights lie in one buffer. */
#include <stdlib.h>
#include <string.h>

#include "dryrun/device/state.h"

#define DIMENSIONS_MOST 8

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

struct tensor {
    int type, count;
    int dimensions[DIMENSIONS_MOST];
};

static int make_tensor(struct tensor **made)
{
    *made = calloc(1, sizeof(**made));
    return *made ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

static void set_tensor(struct tensor *tensor, int type, int count, const int *dimensions)
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
    set_tensor(tensor, type, count, dimensions);
    return CUDA_OK;
}

API int cudnnSetFilterNdDescriptor(struct tensor *tensor, int type, int format, int count,
                                   const int *dimensions)
{
    set_tensor(tensor, type, count, dimensions);
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

/* Recurrent networks. */

struct recurrent {
    int cell; /* 2: LSTM, 3: GRU; others have one gate */
    int has_bias, is_bidirectional, type;
    int input, hidden, projection, layers;
};

API int cudnnCreateRNNDescriptor(struct recurrent **made)
{
    *made = calloc(1, sizeof(**made));
    return *made ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

API int cudnnSetRNNDescriptor_v8(struct recurrent *to, int algorithm, int cell, int bias,
                                 int direction, int input_mode, int type, int precision, int math,
                                 int input, int hidden, int projection, int layers)
{
    *to = (struct recurrent){cell, bias, direction, type, input, hidden, projection, layers};
    return CUDA_OK;
}

static uint64_t gates_of(const struct recurrent *of)
{
    return of->cell == 2 ? 4 : of->cell == 3 ? 3 : 1;
}

static uint64_t element_size(int type)
{
    enum { FLOAT = 0, DOUBLE = 1, HALF = 2, BFLOAT16 = 9 };
    return type == DOUBLE ? 8 : type == HALF || type == BFLOAT16 ? 2 : 4;
}

/* Layers of both directions count. */
static int layer_count(const struct recurrent *of)
{
    return of->layers * (of->is_bidirectional ? 2 : 1);
}

static uint64_t inputs_of(const struct recurrent *of, int layer)
{
    int directions = of->is_bidirectional ? 2 : 1;
    int below = of->projection ? of->projection : of->hidden;
    return (uint64_t)(layer < directions ? of->input : below * directions);
}

/* Elements of all matrices of the layers before this one. Biases follow all matrices. */
static uint64_t matrices_before(const struct recurrent *of, int layer)
{
    uint64_t hidden = (uint64_t)of->hidden, elements = 0;
    for (int i = 0; i < layer; i++)
        elements += gates_of(of) * hidden * (inputs_of(of, i) + hidden);
    return elements;
}

API int cudnnGetRNNWeightSpaceSize(void *handle, const struct recurrent *of, size_t *size)
{
    uint64_t layers = (uint64_t)layer_count(of);
    uint64_t biases = layers * 2 * gates_of(of) * (uint64_t)of->hidden;
    *size = (matrices_before(of, layer_count(of)) + biases) * element_size(of->type);
    return CUDA_OK;
}

static void describe(struct tensor *tensor, int type, uint64_t rows, uint64_t columns)
{
    const int dimensions[3] = {1, (int)rows, (int)columns};
    if (tensor)
        set_tensor(tensor, type, 3, dimensions);
}

/* Matrices come in this order: those of the input for each gate, then those of the hidden state. */
API int cudnnGetRNNWeightParams(void *handle, const struct recurrent *of, int layer, size_t size,
                                char *weights, int which, struct tensor *matrix_type, char **matrix,
                                struct tensor *bias_type, char **bias)
{
    uint64_t gates = gates_of(of), hidden = (uint64_t)of->hidden, inputs = inputs_of(of, layer);
    uint64_t number = (uint64_t)which, bytes = element_size(of->type);
    char *ignored;
    matrix = matrix ? matrix : &ignored; /* a caller may want only one of the two */
    bias = bias ? bias : &ignored;
    *matrix = *bias = NULL;
    if (number >= 2 * gates)
        return CUDA_OK;
    bool is_input = number < gates;
    uint64_t at = is_input ? number * hidden * inputs
                           : gates * hidden * inputs + (number - gates) * hidden * hidden;
    uint64_t biases = matrices_before(of, layer_count(of));
    *matrix = weights + (matrices_before(of, layer) + at) * bytes;
    if (of->has_bias)
        *bias = weights + (biases + ((uint64_t)layer * 2 * gates + number) * hidden) * bytes;
    describe(matrix_type, of->type, hidden, is_input ? inputs : hidden);
    describe(bias_type, of->type, hidden, 1);
    return CUDA_OK;
}

struct sequence {
    int type, length, batch, size;
};

API int cudnnCreateRNNDataDescriptor(struct sequence **made)
{
    *made = calloc(1, sizeof(**made));
    return *made ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

API int cudnnSetRNNDataDescriptor(struct sequence *to, int type, int layout, int length, int batch,
                                  int size)
{
    *to = (struct sequence){type, length, batch, size};
    return CUDA_OK;
}

/* A guess: the gates of a step for all of the sequence, and for training those of every layer with
 * the hidden and the cell state. */
API int cudnnGetRNNTempSpaceSizes(void *handle, const struct recurrent *of, int is_training,
                                  const struct sequence *x, size_t *workspace, size_t *reserve)
{
    uint64_t states =
        (uint64_t)x->length * (uint64_t)x->batch * (uint64_t)of->hidden * element_size(of->type);
    if (workspace)
        *workspace = gates_of(of) * states + MIB;
    if (reserve)
        *reserve = is_training ? (uint64_t)layer_count(of) * (gates_of(of) + 2) * states : 0;
    return CUDA_OK;
}
