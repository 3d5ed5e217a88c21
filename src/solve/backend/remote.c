#include "solve/backend/remote.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "solve/backend/remote_wire.h"

static struct {
    bool connected;
    int to, from; /* negative: the other end has closed the connection */
} server;

void remote_connect(int to, int from)
{
    server.connected = true;
    server.to = to;
    server.from = from;
}

void remote_disconnect(void)
{
    server.connected = false;
}

bool remote_is_connected(void)
{
    return server.connected;
}

static const char gone[] = "its process has ended: the driver crashed, or was killed";

static bool lose(struct error *err)
{
    server.to = server.from = -1;
    return error_set(err, STATUS_IO, gone);
}

static struct remote_request request_of(const struct backend *device, enum remote_question question)
{
    struct remote_request request;
    memset(&request, 0, sizeof(request)); /* clears the padding, which is sent, too */
    request.question = question;
    snprintf(request.device, sizeof(request.device), "%s", device->name);
    return request;
}

bool remote_available(const struct backend *device, struct backend_place *place)
{
    struct remote_request request = request_of(device, REMOTE_AVAILABLE);
    struct error ignored;
    if (!remote_write(server.to, &request, sizeof(request)) ||
        !remote_read(server.from, place, sizeof(*place))) {
        lose(&ignored);
        *place = (struct backend_place){.usable = false};
        snprintf(place->what, sizeof(place->what), "%s", gone);
    }
    return place->usable;
}

static bool send_problem(const struct cost_problem *problem)
{
    const struct remote_problem sizes = {problem->layers, problem->slots};
    size_t layers = (size_t)problem->layers * sizeof(int32_t);
    return remote_write(server.to, &sizes, sizeof(sizes)) &&
           remote_write(server.to, problem->x, layers + sizeof(int32_t)) &&
           remote_write(server.to, problem->xbar, layers) &&
           remote_write(server.to, problem->ftmp, layers) &&
           remote_write(server.to, problem->btmp, layers) &&
           remote_write(server.to, problem->forward, layers);
}

static bool ask(const struct backend *device, const struct cost_problem *problems, size_t count,
                size_t limit, struct error *err)
{
    struct remote_request request = request_of(device, REMOTE_SOLVE);
    struct remote_answer answer;
    request.count = count;
    request.limit = limit;
    bool sent = remote_write(server.to, &request, sizeof(request));
    for (size_t k = 0; sent && k < count; k++)
        sent = send_problem(&problems[k]);
    if (!sent || !remote_read(server.from, &answer, sizeof(answer)))
        return lose(err);
    if (!answer.ok)
        *err = answer.err;
    return answer.ok;
}

/* Reads the whole answer or closes the connection, so that the rest is not mistaken for the next
 * answer. */
static bool receive(struct cost_table *tables, const struct cost_problem *problems, size_t count,
                    struct budget *budget, struct error *err)
{
    size_t k;
    for (k = 0; k < count; k++) {
        if (!cost_table_create(&tables[k], &problems[k], COST_ROWS, 0, budget, err)) {
            struct error ignored;
            lose(&ignored);
            break;
        }
        if (!remote_read(server.from, tables[k].cells, tables[k].bytes)) {
            lose(err);
            cost_table_release(&tables[k], budget);
            break;
        }
    }
    if (k == count)
        return true;
    while (k-- > 0)
        cost_table_release(&tables[k], budget);
    return false;
}

/* The memory that the other end needs for the tables and the copies of the problems. */
static bool bytes_there(const struct cost_problem *problems, size_t count, size_t *bytes,
                        struct error *err)
{
    *bytes = 4096;
    for (size_t k = 0; k < count; k++) {
        size_t table = cost_table_bytes(&problems[k], COST_ROWS);
        size_t lists = 32 * ((size_t)problems[k].layers + 16) * sizeof(int32_t);
        if (table == 0 || __builtin_add_overflow(*bytes, table, bytes) ||
            __builtin_add_overflow(*bytes, lists, bytes))
            return error_set(err, STATUS_LIMIT, "the cost tables are too large");
    }
    return true;
}

bool remote_solve(const struct backend *device, const struct cost_problem *problems,
                  struct cost_table *tables, size_t count, const struct backend_options *options,
                  struct error *err)
{
    size_t bytes;
    if (count > REMOTE_MOST_PROBLEMS)
        return error_set(err, STATUS_LIMIT, "%zu problems are too many for a device", count);
    if (!bytes_there(problems, count, &bytes, err) || !budget_take(options->budget, bytes, err))
        return false;
    /* check for memory before sending the request */
    if (!budget_take(options->budget, bytes, err)) {
        budget_give(options->budget, bytes);
        return false;
    }
    budget_give(options->budget, bytes);
    bool ok = ask(device, problems, count, bytes, err) &&
              receive(tables, problems, count, options->budget, err);
    budget_give(options->budget, bytes);
    return ok;
}

bool remote_read(int from, void *data, size_t size)
{
    for (char *at = data; size > 0;) {
        ssize_t count = read(from, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

static bool write_all(int to, const char *at, size_t size)
{
    while (size > 0) {
        ssize_t count = write(to, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

/* Ignores SIGPIPE during the write only: a crashed reader must not end the process, but a closed
 * standard output still must. */
bool remote_write(int to, const void *data, size_t size)
{
    struct sigaction before, ignore = {.sa_handler = SIG_IGN};
    bool ignored = sigaction(SIGPIPE, &ignore, &before) == 0;
    bool ok = write_all(to, data, size);
    if (ignored)
        (void)sigaction(SIGPIPE, &before, NULL);
    return ok;
}
