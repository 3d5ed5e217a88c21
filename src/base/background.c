#include "base/background.h"

/* More than any analysis needs: all that grows with the input is on the heap. */
#define STACK_BYTES ((size_t)1024 * 1024)

static void *run(void *argument)
{
    struct background *background = argument;
    background->ok = background->work(background->self, &background->err);
    return NULL;
}

void background_begin(struct background *background, bool (*work)(void *self, struct error *err),
                      void *self, bool wanted)
{
    *background = (struct background){.work = work, .self = self};
    background->is_running =
        wanted && thread_start(&background->thread, STACK_BYTES, run, background);
}

bool background_end(struct background *background, bool needed, struct error *err)
{
    if (!background->is_running)
        return !needed || background->work(background->self, err);
    pthread_join(background->thread, NULL);
    if (!background->ok && needed)
        *err = background->err;
    return background->ok || !needed;
}
