#include "base/aside.h"

/* More than any analysis needs: all that grows with the input is on the heap. */
#define STACK_BYTES ((size_t)1024 * 1024)

static void *run(void *argument)
{
    struct aside *aside = argument;
    aside->ok = aside->work(aside->self, &aside->err);
    return NULL;
}

void aside_begin(struct aside *aside, bool (*work)(void *self, struct error *err), void *self,
                 bool wanted)
{
    *aside = (struct aside){.work = work, .self = self};
    aside->is_running = wanted && thread_start(&aside->thread, STACK_BYTES, run, aside);
}

bool aside_end(struct aside *aside, bool needed, struct error *err)
{
    if (!aside->is_running)
        return !needed || aside->work(aside->self, err);
    pthread_join(aside->thread, NULL);
    if (!aside->ok && needed)
        *err = aside->err;
    return aside->ok || !needed;
}
