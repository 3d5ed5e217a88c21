#include "decode/core/input.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct budget *new_budget(size_t max_memory, struct error *err)
{
    struct budget *budget = calloc(1, sizeof(*budget));
    if (budget)
        budget->limit = max_memory ? max_memory : budget_default_limit();
    else
        error_out_of_memory(err);
    return budget;
}

bool input_from_fd(struct input *input, int fd, size_t max_memory, struct error *err)
{
    struct stat st;
    struct input opened = {.budget = new_budget(max_memory, err)};
    if (!opened.budget) {
        close(fd);
        return false;
    }
    opened.bytes = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    if (!source_open_fd(&opened.source, fd, opened.budget, err)) {
        free(opened.budget);
        return false;
    }
    *input = opened;
    return true;
}

bool input_from_memory(struct input *input, const void *bytes, size_t size, size_t max_memory,
                       struct error *err)
{
    struct input opened = {.budget = new_budget(max_memory, err), .bytes = size};
    if (!opened.budget)
        return false;
    if (!source_open_memory(&opened.source, bytes, size, opened.budget, err)) {
        free(opened.budget);
        return false;
    }
    *input = opened;
    return true;
}

void input_close(struct input *input)
{
    if (input->bytes == 0)
        input->bytes = source_bytes_read(&input->source);
    source_close(&input->source);
}

void input_discard(struct input *input)
{
    source_close(&input->source);
    free(input->budget);
}
