#include "dryrun/core/answers.h"

#include <fnmatch.h>
#include <stddef.h>

struct row {
    const char *pattern; /* a pattern for fnmatch() */
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
    /* settings */
    {"cusparseLt*", ANSWER_STOP},
    {"cu*Set*", ANSWER_SUCCESS},
    /* libraries whose other functions compute on the GPU, or set something */
    {"cublas*", ANSWER_WORK},
    {"cudnn*", ANSWER_WORK},
    {"cusparse*", ANSWER_WORK},
    {"cusolver*", ANSWER_WORK},
    {"cufft*Exec*", ANSWER_WORK},
    {"curandGenerate*", ANSWER_WORK},
    {"nvtx*", ANSWER_SUCCESS},
    {"cupti*", ANSWER_SUCCESS},
    {"cuFile*Deregister", ANSWER_SUCCESS},
    /* the runtime and the driver */
    {"__cudaRegister*", ANSWER_SUCCESS},
    {"cuda*Synchronize", ANSWER_SUCCESS},
    {"cu*Synchronize", ANSWER_SUCCESS},
    {"cuda*Launch*", ANSWER_WORK},
    {"cuLaunch*", ANSWER_WORK},
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
