/* cuDNN's graph interface: descriptors that remember their attributes. A plan is asked for the size
 * of its workspace. */
#include <stdlib.h>
#include <string.h>

#include "dryrun/device/state.h"
#include "dryrun/device/values.h"

/* Numbers from cuDNN's documentation of its graph interface. */
enum {
    TYPE_ENGINE = 2,
    TYPE_CONVOLUTION = 10, /* forward */
    TYPE_CONVOLUTION_FILTER = 11,
    TYPE_CONVOLUTION_DATA = 12,
};
enum {
    HEURISTIC_GRAPH = 201,
    HEURISTIC_RESULTS = 202,
    CONFIGURATION_ENGINE = 300,
    CONFIGURATION_WORKSPACE = 303,
    PLAN_CONFIGURATION = 401,
    PLAN_WORKSPACE = 402,
    PLAN_JSON = 405,
    CONVOLUTION_FILTER = 703, /* the weights of a forward convolution */
    DATA_FILTER = 709,
    FILTER_FILTER = 715,
    GRAPH_OPERATIONS = 801,
    GRAPH_ENGINE_COUNT = 802,
    TENSOR_DIMENSIONS = 902,
    ENGINE_GRAPH = 1300,
    ENGINE_INDEX = 1301,
};
enum {
    VALUE_HANDLE = 0,
    VALUE_BOOLEAN = 2,
    VALUE_INT64 = 3,
    VALUE_DOUBLE = 5,
    VALUE_POINTER = 6,
    VALUE_DESCRIPTOR = 15,
    VALUE_INT32 = 23,
    VALUE_CHAR = 24,
    VALUE_FRACTION = 26,
};

struct attribute {
    int name, type;
    int64_t count;
    void *values; /* malloc'ed */
};

struct descriptor {
    int type, count;
    struct attribute *attributes; /* may be shared with another descriptor */
};

static size_t size_of(int type)
{
    switch (type) {
    case VALUE_HANDLE:
    case VALUE_INT64:
    case VALUE_DOUBLE:
    case VALUE_POINTER:
    case VALUE_DESCRIPTOR:
        return 8;
    case VALUE_FRACTION:
        return 16;
    case VALUE_BOOLEAN:
    case VALUE_CHAR:
        return 1;
    default: /* enumerations, int32 and float */
        return 4;
    }
}

static struct attribute *find(const struct descriptor *descriptor, int name)
{
    for (int i = 0; i < descriptor->count; i++)
        if (descriptor->attributes[i].name == name)
            return &descriptor->attributes[i];
    return NULL;
}

/* The descriptor that an attribute holds; NULL: none. */
static struct descriptor *follow(const struct descriptor *descriptor, int name)
{
    const struct attribute *attribute = descriptor ? find(descriptor, name) : NULL;
    struct descriptor *held = NULL;
    if (attribute && attribute->type == VALUE_DESCRIPTOR && attribute->count > 0)
        memcpy(&held, attribute->values, sizeof(held));
    return held;
}

static int64_t count_elements(const struct descriptor *tensor)
{
    const struct attribute *dimensions = tensor ? find(tensor, TENSOR_DIMENSIONS) : NULL;
    int64_t elements = dimensions ? 1 : 0;
    for (int64_t i = 0; dimensions && i < dimensions->count; i++)
        elements *= ((const int64_t *)dimensions->values)[i];
    return elements;
}

/* cuDNN chooses an engine by rules that are not published. This is what implicit matrix products
 * with float32 would need: forward and for the gradient of the data, the weights in another order,
 * unless they are small; for the gradient of the weights, four partial sums. */
static int64_t workspace_of(const struct descriptor *plan)
{
    const int64_t small = 1 << 16, bytes = 4, partial_sums = 4, extra = 16 * 1024;
    const struct descriptor *graph =
        follow(follow(follow(plan, PLAN_CONFIGURATION), CONFIGURATION_ENGINE), ENGINE_GRAPH);
    const struct descriptor *operation = follow(graph, GRAPH_OPERATIONS);
    switch (operation ? operation->type : -1) {
    case TYPE_CONVOLUTION: {
        int64_t weights = count_elements(follow(operation, CONVOLUTION_FILTER));
        return weights > small ? bytes * weights : 0;
    }
    case TYPE_CONVOLUTION_DATA:
        return bytes * count_elements(follow(operation, DATA_FILTER));
    case TYPE_CONVOLUTION_FILTER:
        return partial_sums * bytes * count_elements(follow(operation, FILTER_FILTER)) + extra;
    default:
        return 0;
    }
}

API int cudnnBackendCreateDescriptor(int type, struct descriptor **made)
{
    *made = calloc(1, sizeof(**made));
    if (!*made)
        return CUDA_OUT_OF_MEMORY;
    (*made)->type = type;
    return CUDA_OK;
}

/* Descriptors refer to each other in ways that only cuDNN counts, so their few bytes stay. */
API int cudnnBackendDestroyDescriptor(struct descriptor *descriptor)
{
    return CUDA_OK;
}

API int cudnnBackendSetAttribute(struct descriptor *descriptor, int name, int type, int64_t count,
                                 const void *values)
{
    size_t size = (size_t)(count > 0 ? count : 0) * size_of(type);
    struct attribute *attribute = find(descriptor, name);
    if (!attribute) {
        size_t more = ((size_t)descriptor->count + 1) * sizeof(*attribute);
        struct attribute *attributes = realloc(descriptor->attributes, more);
        if (!attributes)
            return CUDA_OUT_OF_MEMORY;
        descriptor->attributes = attributes;
        attribute = &attributes[descriptor->count++];
        *attribute = (struct attribute){.name = name};
    }
    void *copy = malloc(size + 1);
    if (!copy)
        return CUDA_OUT_OF_MEMORY;
    if (values)
        memcpy(copy, values, size);
    free(attribute->values);
    *attribute = (struct attribute){name, type, values ? count : 0, copy};
    return CUDA_OK;
}

static int get_number(int64_t number, int64_t wanted, int64_t *got, void *out)
{
    *got = 1;
    if (out && wanted > 0)
        memcpy(out, &number, sizeof(number));
    return CUDA_OK;
}

/* One configuration, of one engine that the stand-in makes up. */
static int get_heuristic(const struct descriptor *heuristic, int64_t wanted, int64_t *got,
                         struct descriptor **out)
{
    const int64_t index = 0;
    struct descriptor *engine, *graph = follow(heuristic, HEURISTIC_GRAPH);
    *got = 1;
    if (!out || wanted < 1)
        return CUDA_OK;
    if (cudnnBackendCreateDescriptor(TYPE_ENGINE, &engine) != CUDA_OK)
        return CUDA_OUT_OF_MEMORY;
    cudnnBackendSetAttribute(engine, ENGINE_GRAPH, VALUE_DESCRIPTOR, 1, &graph);
    cudnnBackendSetAttribute(engine, ENGINE_INDEX, VALUE_INT64, 1, &index);
    return cudnnBackendSetAttribute(out[0], CONFIGURATION_ENGINE, VALUE_DESCRIPTOR, 1, &engine);
}

static int get_json(int64_t wanted, int64_t *got, void *out)
{
    static const char text[] = "{\"engine\":0}";
    *got = sizeof(text);
    if (out && wanted > 0)
        memcpy(out, text, (size_t)wanted < sizeof(text) ? (size_t)wanted : sizeof(text));
    return CUDA_OK;
}

/* The caller has made the descriptors, and they become like the ones that are held. */
static void copy_descriptors(const struct attribute *from, int64_t count, struct descriptor **to)
{
    struct descriptor *const *held = from->values;
    for (int64_t i = 0; i < count; i++) {
        if (to[i] && held[i] && to[i] != held[i])
            *to[i] = *held[i];
        else
            to[i] = held[i];
    }
}

static int get_stored(const struct descriptor *descriptor, int name, int type, int64_t wanted,
                      int64_t *got, void *out)
{
    const struct attribute *attribute = find(descriptor, name);
    if (!attribute) {
        bool is_number = type == VALUE_INT64 || type == VALUE_INT32 || type == VALUE_BOOLEAN;
        *got = is_number && out && wanted > 0 ? 1 : 0;
        if (*got)
            memset(out, 0, size_of(type));
        return CUDA_OK;
    }
    int64_t count = wanted < attribute->count ? wanted : attribute->count;
    *got = attribute->count;
    if (out && type == VALUE_DESCRIPTOR)
        copy_descriptors(attribute, count, out);
    else if (out && count > 0)
        memcpy(out, attribute->values, (size_t)count * size_of(type));
    return CUDA_OK;
}

API int cudnnBackendGetAttribute(const struct descriptor *descriptor, int name, int type,
                                 int64_t wanted, int64_t *got, void *out)
{
    int64_t ignored;
    got = got ? got : &ignored;
    switch (name) {
    case HEURISTIC_RESULTS:
        return get_heuristic(descriptor, wanted, got, out);
    case PLAN_WORKSPACE:
        return get_number(workspace_of(descriptor), wanted, got, out);
    case CONFIGURATION_WORKSPACE:
        return get_number(0, wanted, got, out);
    case GRAPH_ENGINE_COUNT:
        return get_number(1, wanted, got, out);
    case PLAN_JSON:
        return get_json(wanted, got, out);
    default:
        return get_stored(descriptor, name, type, wanted, got, out);
    }
}

API int cudnnBackendInitialize(void)
{
    return CUDA_OK;
}

API int cudnnBackendFinalize(void)
{
    return CUDA_OK;
}

API int cudnnBackendExecute(void)
{
    values_forget();
    return CUDA_OK;
}
