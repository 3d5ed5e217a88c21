/* Graphs that were captured: objects that can be instantiated and launched, to no effect. */
#include <string.h>

#include "dryrun/device/state.h"
#include "dryrun/device/values.h"

static char executable, node, user_object; /* any addresses */

API int cudaGraphInstantiate(void **made)
{
    *made = &executable;
    return CUDA_OK;
}

API int cudaGraphInstantiateWithFlags(void **made)
{
    return cudaGraphInstantiate(made);
}

API int cudaGraphExecDestroy(void)
{
    return CUDA_OK;
}

API int cudaGraphLaunch(void)
{
    values_forget();
    return CUDA_OK;
}

/* PyTorch warns of graphs without nodes. */
API int cudaGraphGetNodes(void *graph, void **nodes, size_t *count)
{
    if (nodes && *count > 0)
        nodes[0] = &node;
    *count = 1;
    return CUDA_OK;
}

API int cudaGraphNodeGetDependencies(void *of, void **nodes, void *edges, size_t *count)
{
    /* until CUDA 12 the third parameter is the count */
    size_t *number = machine.runtime_version < 13000 ? edges : count;
    if (number)
        *number = 0;
    return CUDA_OK;
}

API int cudaGraphAddNode(void **added)
{
    *added = &node;
    return CUDA_OK;
}

API int cudaGraphConditionalHandleCreate(uint64_t *handle)
{
    *handle = 1;
    return CUDA_OK;
}

API int cudaGraphRetainUserObject(void)
{
    return CUDA_OK;
}

/* The object's destructor never runs, for graphs do not own it here. */
API int cudaUserObjectCreate(void **object)
{
    *object = &user_object;
    return CUDA_OK;
}

API int cudaStreamUpdateCaptureDependencies(void)
{
    return CUDA_OK;
}
