#include "solve/choice/choice.h"

#include <stdlib.h>
#include <string.h>

#include "solve/backend/remote_wire.h"
#include "solve/cuda/cuda.h"
#include "solve/opencl/opencl.h"

/* Problems as received, with the data they refer to. */
struct work {
    size_t count;
    struct cost_problem *problems;
    int32_t **numbers; /* [count]: the arrays of a problem, concatenated */
    struct cost_table *tables;
};

static bool work_create(struct work *work, size_t count)
{
    if (count == 0 || count > REMOTE_MOST_PROBLEMS)
        return false;
    work->count = count;
    work->problems = calloc(count, sizeof(*work->problems));
    work->numbers = calloc(count, sizeof(*work->numbers));
    work->tables = calloc(count, sizeof(*work->tables));
    return work->problems && work->numbers && work->tables;
}

static void work_release(struct work *work)
{
    for (size_t k = 0; work->numbers && k < work->count; k++)
        free(work->numbers[k]);
    free(work->problems);
    free(work->numbers);
    free(work->tables);
}

static bool read_problem(int from, struct cost_problem *problem, int32_t **numbers)
{
    struct remote_problem sizes;
    if (!remote_read(from, &sizes, sizeof(sizes)) || sizes.layers < 1 ||
        sizes.layers > COST_MAX_LAYERS)
        return false;
    size_t layers = (size_t)sizes.layers, count = 5 * layers + 1;
    int32_t *all = calloc(count, sizeof(*all));
    if (!all || !remote_read(from, all, count * sizeof(*all))) {
        free(all);
        return false;
    }
    *numbers = all;
    *problem = (struct cost_problem){
        .layers = sizes.layers,
        .slots = sizes.slots,
        .x = all,
        .xbar = all + layers + 1,
        .ftmp = all + 2 * layers + 1,
        .btmp = all + 3 * layers + 1,
        .forward = all + 4 * layers + 1,
    };
    return true;
}

static bool solve(const struct backend *device, struct work *work, struct budget *budget,
                  struct error *err)
{
    struct backend_options options = {.budget = budget};
    for (size_t k = 0; k < work->count; k++)
        if (!cost_problem_check(&work->problems[k], err))
            return false;
    return device->solve(work->problems, work->tables, work->count, &options, err);
}

static bool answer(int to, const struct backend *device, struct work *work, size_t limit)
{
    struct budget budget = {.limit = limit};
    struct remote_answer answer;
    memset(&answer, 0, sizeof(answer)); /* clears the padding, which is sent, too */
    answer.ok = solve(device, work, &budget, &answer.err);
    bool sent = remote_write(to, &answer, sizeof(answer));
    for (size_t k = 0; answer.ok && k < work->count; k++) {
        sent = sent && remote_write(to, work->tables[k].cells, work->tables[k].bytes);
        cost_table_release(&work->tables[k], &budget);
    }
    return sent;
}

static bool serve_solve(int from, int to, const struct backend *device,
                        const struct remote_request *request)
{
    struct work work = {0};
    bool ok = work_create(&work, request->count);
    for (size_t k = 0; ok && k < work.count; k++)
        ok = read_problem(from, &work.problems[k], &work.numbers[k]);
    ok = ok && answer(to, device, &work, request->limit);
    work_release(&work);
    return ok;
}

static bool serve_available(int to, const struct backend *device)
{
    struct backend_place place;
    memset(&place, 0, sizeof(place));
    device->available(&place);
    return remote_write(to, &place, sizeof(place));
}

static const struct backend *device_of(struct remote_request *request)
{
    request->device[sizeof(request->device) - 1] = '\0';
    const struct backend *device = backend_find(request->device);
    return device == &backend_cpu ? NULL : device;
}

void remote_serve(int from, int to)
{
    struct remote_request request;
    bool ok = true;
    while (ok && remote_read(from, &request, sizeof(request))) {
        const struct backend *device = device_of(&request);
        ok = device &&
             (request.question == REMOTE_AVAILABLE ? serve_available(to, device)
                                                   : serve_solve(from, to, device, &request));
    }
}

const struct backend *const backends[] = {&backend_cpu, &backend_cuda, &backend_opencl, NULL};

const struct backend *backend_find(const char *name)
{
    for (size_t i = 0; backends[i]; i++)
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    return NULL;
}

const struct backend *backend_choose(const struct cost_problem *problems, size_t count,
                                     unsigned threads)
{
    const struct backend *best = &backend_cpu;
    double least = best->seconds(problems, count, threads);
    for (size_t i = 0; backends[i]; i++) {
        struct backend_place place;
        double seconds = backends[i]->seconds(problems, count, threads);
        if (seconds > least - BACKEND_WORTH_SECONDS || !backends[i]->available(&place) ||
            place.is_cpu)
            continue;
        best = backends[i];
        least = seconds;
    }
    return best;
}
