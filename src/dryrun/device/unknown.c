/* Functions that the stand-in does not implement, and the end of a program that needs one. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dryrun/core/answers.h"
#include "dryrun/core/outcome.h"
#include "dryrun/device/state.h"
#include "dryrun/device/values.h"

#define HANDLE_SIZE 4096 /* more than any library's own structure that a program fills in */

void dryrun_stop(const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fflush(NULL);
    fprintf(stderr, "memsnap: dryrun: %s\n", text);
    fflush(stderr);
    _exit(OUTCOME_STOPPED);
}

int memsnap_dryrun_unknown(void *first, const char *name)
{
    enum answer answer = answer_for(name);
    if (answer == ANSWER_WORK || answer == ANSWER_STOP)
        values_forget();
    if (answer == ANSWER_STOP && !machine.is_lenient)
        dryrun_stop("the program called %s, which the stand-in for CUDA does not implement; "
                    "--lenient lets such functions return success",
                    name);
    if (answer == ANSWER_HANDLE) {
        void *handle = calloc(1, HANDLE_SIZE);
        if (!handle)
            return CUDA_OUT_OF_MEMORY;
        memcpy(first, &handle, sizeof(handle));
    }
    return CUDA_OK;
}

/* Stubs for entry points that a program asks for by name and that nothing defines. Many are only
 * asked for and never called. */
#define THUNKS_MOST 64

static const char *thunk_names[THUNKS_MOST];

/* clang-format off */
#define THUNK(n) \
    static int thunk_##n(void *first) { return memsnap_dryrun_unknown(first, thunk_names[n]); }
#define THUNK_ROW(n) thunk_##n,
#define EIGHT(of, n) of(n##0) of(n##1) of(n##2) of(n##3) of(n##4) of(n##5) of(n##6) of(n##7)
#define ALL(of) /* numbers in octal */ \
    EIGHT(of, 00) EIGHT(of, 01) EIGHT(of, 02) EIGHT(of, 03) \
    EIGHT(of, 04) EIGHT(of, 05) EIGHT(of, 06) EIGHT(of, 07)
ALL(THUNK)
static int (*const thunks[THUNKS_MOST])(void *) = {ALL(THUNK_ROW)};
/* clang-format on */

static void *thunk_for(const char *name)
{
    void *found = NULL;
    pthread_mutex_lock(&machine.lock);
    for (int i = 0; i < THUNKS_MOST && !found; i++) {
        if (!thunk_names[i])
            thunk_names[i] = strdup(name);
        if (thunk_names[i] && strcmp(thunk_names[i], name) == 0)
            memcpy(&found, &thunks[i], sizeof(found));
    }
    pthread_mutex_unlock(&machine.lock);
    return found;
}

void *entry_point(const char *name)
{
    /* the driver's headers map some names to newer versions of the function */
    static const char *const suffixes[] = {"_v2", "", "_v3"};
    char text[256];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        snprintf(text, sizeof(text), "%.200s%s", name, suffixes[i]);
        void *found = dlsym(RTLD_DEFAULT, text);
        if (found)
            return found;
    }
    return thunk_for(name);
}
