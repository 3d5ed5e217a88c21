#include "dryrun/core/answers.h"

#include <fnmatch.h>
#include <stddef.h>

struct row {
    const char *pattern; /* of fnmatch() */
    enum answer answer;
};

/* The first pattern that matches decides. Names follow conventions: *Create* makes an object, Get,
 * Query, Find and bufferSize return something to the host. In the libraries of linear algebra,
 * everything else sets, destroys or computes on the GPU. */
static const struct row rows[] = {
    /* destroyers, before the creators that have similar names */
    {"*Destroy*", ANSWER_SUCCESS},
    {"*_destroyDescr", ANSWER_SUCCESS},
    {"*Unregister*", ANSWER_SUCCESS},
    {"*Unload*", ANSWER_SUCCESS},
    {"*Release", ANSWER_SUCCESS},
    /* data for the host */
    {"*Get*", ANSWER_STOP},
    {"*Query*", ANSWER_STOP},
    {"*Find*", ANSWER_STOP},
    {"*bufferSize*", ANSWER_STOP},
    {"*BufferSize*", ANSWER_STOP},
    {"*Workspace*Size*", ANSWER_STOP},
    {"*Nnz", ANSWER_STOP},
    {"*workEstimation*", ANSWER_STOP},
    {"*zeroPivot", ANSWER_STOP},
    {"*Export*", ANSWER_STOP},
    {"*Import*", ANSWER_STOP},
    {"*Ipc*", ANSWER_STOP},
    /* objects */
    {"cublas*Create*", ANSWER_HANDLE},
    {"cudnnCreate*", ANSWER_HANDLE},
    {"cusparse*Create*", ANSWER_HANDLE},
    {"cusparse*_createDescr", ANSWER_HANDLE},
    {"cusolver*Create*", ANSWER_HANDLE},
    {"curandCreate*", ANSWER_HANDLE},
    {"cudaGraphCreate", ANSWER_HANDLE},
    {"*Create*", ANSWER_STOP},
    /* libraries whose other functions compute on the GPU, or set something */
    {"cublas*", ANSWER_SUCCESS},
    {"cudnn*", ANSWER_SUCCESS},
    {"cusparseLt*", ANSWER_STOP},
    {"cusparse*", ANSWER_SUCCESS},
    {"cusolver*", ANSWER_SUCCESS},
    {"cufft*Exec*", ANSWER_SUCCESS},
    {"cufftSet*", ANSWER_SUCCESS},
    {"curandGenerate*", ANSWER_SUCCESS},
    {"curandSet*", ANSWER_SUCCESS},
    {"nvtx*", ANSWER_SUCCESS},
    {"cupti*", ANSWER_SUCCESS},
    {"cuFile*Deregister", ANSWER_SUCCESS},
    /* the runtime and the driver */
    {"__cudaRegister*", ANSWER_SUCCESS},
    {"cuda*Set*", ANSWER_SUCCESS},
    {"cu*Set*", ANSWER_SUCCESS},
    {"cuda*Synchronize", ANSWER_SUCCESS},
    {"cu*Synchronize", ANSWER_SUCCESS},
    {"cuda*Launch*", ANSWER_SUCCESS},
    {"cuLaunch*", ANSWER_SUCCESS},
    {"*Profiler*", ANSWER_SUCCESS},
    {"cuda*Advise*", ANSWER_SUCCESS},
    {"cuda*Prefetch*", ANSWER_SUCCESS},
    {"cudaMemPool*", ANSWER_SUCCESS},
    {"cudaDevice*PeerAccess", ANSWER_SUCCESS},
    {"cudaHost*gister", ANSWER_SUCCESS},
    {"cuStreamWriteValue*", ANSWER_SUCCESS},
    {"cuStreamWaitValue*", ANSWER_SUCCESS},
    {"cuLogsRegisterCallback", ANSWER_SUCCESS},
    {"nvmlInit*", ANSWER_SUCCESS},
    {"nvmlShutdown", ANSWER_SUCCESS},
};

enum answer answer_for(const char *function)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (fnmatch(rows[i].pattern, function, 0) == 0)
            return rows[i].answer;
    return ANSWER_STOP;
}
