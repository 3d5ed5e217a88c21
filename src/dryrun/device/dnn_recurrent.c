/* Recurrent networks of cuDNN: sizes, and where weights lie in one buffer. */
#include <stdlib.h>

#include "dryrun/device/dnn.h"
#include "dryrun/device/state.h"

struct recurrent {
    int cell; /* 2: LSTM, 3: GRU; others have one gate */
    int has_bias, is_bidirectional, type;
    int input, hidden, projection,
        layers; /* PyTorch sets projection to hidden where there is none */
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

static uint64_t outputs_of(const struct recurrent *of)
{
    return (uint64_t)(of->projection ? of->projection : of->hidden);
}

static uint64_t inputs_of(const struct recurrent *of, int layer)
{
    uint64_t directions = of->is_bidirectional ? 2 : 1;
    return (uint64_t)layer < directions ? (uint64_t)of->input : outputs_of(of) * directions;
}

static uint64_t matrices_of(const struct recurrent *of, int layer)
{
    uint64_t hidden = (uint64_t)of->hidden, outputs = outputs_of(of);
    uint64_t projection = outputs != hidden ? outputs * hidden : 0;
    return gates_of(of) * hidden * (inputs_of(of, layer) + outputs) + projection;
}

/* Elements of all matrices of the layers before this one. Biases follow all matrices. */
static uint64_t matrices_before(const struct recurrent *of, int layer)
{
    uint64_t elements = 0;
    for (int i = 0; i < layer; i++)
        elements += matrices_of(of, i);
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
        dnn_set_tensor(tensor, type, 3, dimensions);
}

/* Matrices come in this order: those of the input for each gate, those of the output of the step
 * before, and the projection of the hidden state to the output, which has no bias. */
API int cudnnGetRNNWeightParams(void *handle, const struct recurrent *of, int layer, size_t size,
                                char *weights, int which, struct tensor *matrix_type, char **matrix,
                                struct tensor *bias_type, char **bias)
{
    uint64_t gates = gates_of(of), hidden = (uint64_t)of->hidden;
    uint64_t inputs = inputs_of(of, layer), outputs = outputs_of(of);
    uint64_t number = (uint64_t)which, bytes = element_size(of->type);
    bool is_input = number < gates, is_projection = number == 2 * gates;
    char *ignored;
    matrix = matrix ? matrix : &ignored; /* a caller may want only one of the two */
    bias = bias ? bias : &ignored;
    *matrix = *bias = NULL;
    if (number > 2 * gates || (is_projection && outputs == hidden))
        return CUDA_OK;
    uint64_t at = is_input ? number * hidden * inputs
                           : gates * hidden * inputs + (number - gates) * hidden * outputs;
    uint64_t biases = matrices_before(of, layer_count(of));
    *matrix = weights + (matrices_before(of, layer) + at) * bytes;
    if (of->has_bias && !is_projection)
        *bias = weights + (biases + ((uint64_t)layer * 2 * gates + number) * hidden) * bytes;
    describe(matrix_type, of->type, is_projection ? outputs : hidden,
             is_input        ? inputs
             : is_projection ? hidden
                             : outputs);
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

/* The interface before version 8 of cuDNN, which PyTorch used until 2.2. It tells the size of the
 * input with each call, as the second dimension of a tensor for one step. */

API int cudnnSetRNNDescriptor_v6(void *handle, struct recurrent *to, int hidden, int layers,
                                 void *dropout, int input_mode, int direction, int cell,
                                 int algorithm, int precision)
{
    *to = (struct recurrent){cell, 1, direction, precision, 0, hidden, 0, layers};
    return CUDA_OK;
}

API int cudnnSetRNNProjectionLayers(void *handle, struct recurrent *to, int projection)
{
    to->projection = projection;
    return CUDA_OK;
}

API int cudnnGetRNNParamsSize(void *handle, struct recurrent *of, const struct tensor *x,
                              size_t *size, int type)
{
    of->input = x->dimensions[1];
    of->type = type;
    return cudnnGetRNNWeightSpaceSize(handle, of, size);
}

API int cudnnGetRNNLinLayerMatrixParams(void *handle, struct recurrent *of, int layer,
                                        const struct tensor *x, void *weights_type, char *weights,
                                        int which, struct tensor *matrix_type, char **matrix)
{
    of->input = x->dimensions[1];
    return cudnnGetRNNWeightParams(handle, of, layer, 0, weights, which, matrix_type, matrix, NULL,
                                   NULL);
}

API int cudnnGetRNNLinLayerBiasParams(void *handle, struct recurrent *of, int layer,
                                      const struct tensor *x, void *weights_type, char *weights,
                                      int which, struct tensor *bias_type, char **bias)
{
    of->input = x->dimensions[1];
    return cudnnGetRNNWeightParams(handle, of, layer, 0, weights, which, NULL, NULL, bias_type,
                                   bias);
}

/* The first step has the largest batch. */
static struct sequence sequence_of(int length, const struct tensor *const *steps)
{
    return (struct sequence){steps[0]->type, length, steps[0]->dimensions[0],
                             steps[0]->dimensions[1]};
}

API int cudnnGetRNNWorkspaceSize(void *handle, const struct recurrent *of, int length,
                                 const struct tensor *const *steps, size_t *size)
{
    struct sequence x = sequence_of(length, steps);
    return cudnnGetRNNTempSpaceSizes(handle, of, 1, &x, size, NULL);
}

API int cudnnGetRNNTrainingReserveSize(void *handle, const struct recurrent *of, int length,
                                       const struct tensor *const *steps, size_t *size)
{
    struct sequence x = sequence_of(length, steps);
    return cudnnGetRNNTempSpaceSizes(handle, of, 1, &x, NULL, size);
}
