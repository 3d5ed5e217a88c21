/* The leaders: what goes between the processes of MPI (cluster.h).
 *
 * All of them take the same steps. Process 0 broadcasts the bytes of its worker; then the records
 * of the others' workers are gathered in rounds of limited size, until nobody has any. A worker
 * that ends early is told to all in the next step, so that none waits for it. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands/cli/complain.h"
#include "commands/cluster/worker.h"

/* Bytes of the records of one process in a round; a larger record is sent alone. */
#define ROUND_BYTES ((size_t)1 << 20)
#define PAUSE_NS    500000 /* between looks at whether the others are there */

enum state {
    HAS_MORE, /* steps follow */
    IS_DONE,  /* its worker has said all */
    HAS_LEFT, /* process 0 only: the command ended without the others, and said why */
    IS_BROKEN
};

/* What each process reports to all others before a step. */
struct news {
    int32_t state;    /* enum state */
    int32_t size;     /* bytes that it brings to the step */
    struct error err; /* if IS_BROKEN */
    char machine[64];
};

struct leader {
    struct cluster self;
    struct worker worker;
    struct buffer bytes; /* brought to the step, or taken from it */
    struct news own, *all;
    enum status status; /* of the worker of process 0, once it has left */
};

/* MPI's own waiting takes a whole core, which a worker on the same machine may need. */
static void await(MPI_Request request)
{
    int done = 0;
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

static void exchange_news(struct leader *leader)
{
    MPI_Request request;
    leader->own.size = (int32_t)leader->bytes.size;
    MPI_Iallgather(&leader->own, sizeof(leader->own), MPI_BYTE, leader->all, sizeof(leader->own),
                   MPI_BYTE, MPI_COMM_WORLD, &request);
    await(request);
}

/* Finds out why the worker has ended without a word. */
static void note_end(struct leader *leader)
{
    struct error *err = &leader->own.err;
    bool exited = worker_finish(&leader->worker, &leader->status, err);
    leader->own.state = exited && leader->self.rank == 0 ? HAS_LEFT : IS_BROKEN;
    if (exited)
        error_set(err, STATUS_IO, "the process that reads captures ended with status %d",
                  (int)leader->status);
}

static void note_failure(struct leader *leader, const struct buffer *bytes)
{
    leader->own.state = IS_BROKEN;
    if (bytes->size == sizeof(leader->own.err))
        memcpy(&leader->own.err, bytes->bytes, bytes->size);
    leader->own.err.text[sizeof(leader->own.err.text) - 1] = '\0';
    worker_kill(&leader->worker);
}

/* The next message of the worker; false: it has ended, or failed. */
static bool await_worker(struct leader *leader, enum frame_kind *kind, struct buffer *bytes)
{
    if (!worker_await(&leader->worker, kind, bytes))
        note_end(leader);
    else if (*kind == FRAME_FAILED)
        note_failure(leader, bytes);
    return leader->own.state < HAS_LEFT;
}

/* The process by which the step cannot be done; the number of processes if there is none. */
static size_t find_absent(const struct leader *leader)
{
    size_t i = 0;
    while (i < leader->self.size && leader->all[i].state < HAS_LEFT)
        i++;
    return i;
}

/* Gives the bytes of process 0's worker to all workers. */
static void broadcast(struct leader *leader)
{
    enum frame_kind kind;
    MPI_Request request;
    await_worker(leader, &kind, &leader->bytes);
    exchange_news(leader);
    if (find_absent(leader) < leader->self.size)
        return;
    size_t size = (size_t)leader->all[0].size;
    char *bytes = leader->self.rank == 0 ? leader->bytes.bytes : malloc(size + 1);
    if (!bytes) {
        complain("out of memory");
        MPI_Abort(MPI_COMM_WORLD, STATUS_LIMIT);
    }
    MPI_Ibcast(bytes, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    await(request);
    if (leader->self.rank > 0) {
        (void)frame_write(leader->worker.fd, FRAME_BROADCAST, bytes, size);
        free(bytes);
    }
    buffer_clear(&leader->bytes);
}

static void add_record(struct buffer *records, const struct buffer *record)
{
    const struct frame frame = {.kind = FRAME_RECORD, .size = (uint32_t)record->size};
    buffer_add(records, (const char *)&frame, sizeof(frame));
    buffer_add(records, record->bytes, record->size);
}

/* Reads records of the worker until there are enough for a round. The worker of process 0 has
 * none, and tells only when it has read its files. */
static void fill_round(struct leader *leader)
{
    struct buffer record = BUFFER_INIT;
    enum frame_kind kind;
    buffer_clear(&leader->bytes);
    while (leader->own.state == HAS_MORE && leader->bytes.size < ROUND_BYTES &&
           await_worker(leader, &kind, &record)) {
        if (kind == FRAME_END)
            leader->own.state = IS_DONE;
        else
            add_record(&leader->bytes, &record);
    }
    if (leader->bytes.failed || record.failed) {
        complain("out of memory");
        MPI_Abort(MPI_COMM_WORLD, STATUS_LIMIT);
    }
    buffer_release(&record);
}

/* Gathers a round at process 0, which gives it to its worker. */
static void gather_round(struct leader *leader)
{
    size_t count = leader->self.size, total = 0;
    bool is_root = leader->self.rank == 0;
    int *sizes = calloc(2 * count, sizeof(*sizes)), *starts = sizes + count;
    MPI_Request request;
    for (size_t i = 0; sizes && i < count; i++) {
        sizes[i] = leader->all[i].size;
        starts[i] = (int)total;
        total += (size_t)sizes[i];
    }
    char *gathered = is_root ? malloc(total + 1) : NULL;
    if (!sizes || (is_root && !gathered) || total > INT_MAX) {
        complain("out of memory");
        MPI_Abort(MPI_COMM_WORLD, STATUS_LIMIT);
    }
    MPI_Igatherv(leader->bytes.bytes, leader->own.size, MPI_BYTE, gathered, sizes, starts, MPI_BYTE,
                 0, MPI_COMM_WORLD, &request);
    await(request);
    if (is_root)
        (void)frame_write_all(leader->worker.fd, gathered, total);
    free(gathered);
    free(sizes);
}

static bool all_done(const struct leader *leader)
{
    size_t i = 0;
    while (i < leader->self.size && leader->all[i].state == IS_DONE)
        i++;
    return i == leader->self.size;
}

static void gather_records(struct leader *leader)
{
    do {
        fill_round(leader);
        exchange_news(leader);
        if (find_absent(leader) < leader->self.size)
            return;
        gather_round(leader);
    } while (!all_done(leader));
}

/* Process 0's last step: its worker has all records, and writes the report. */
static void finish(struct leader *leader)
{
    (void)frame_write(leader->worker.fd, FRAME_END, NULL, 0);
    note_end(leader);
}

/* Ends the worker of a command that another process cannot go on with. */
static enum status give_up(struct leader *leader, size_t absent)
{
    const struct news *news = &leader->all[absent];
    if (leader->own.state < HAS_LEFT)
        worker_kill(&leader->worker);
    if (news->state == HAS_LEFT)
        return leader->self.rank == 0 ? leader->status : STATUS_OK;
    if (leader->self.rank == 0)
        complain("process %zu of %zu (%.63s): %.231s; nothing is written", absent,
                 leader->self.size, news->machine, news->err.text);
    return news->err.status;
}

static enum status lead(struct leader *leader)
{
    size_t count = leader->self.size;
    worker_begin(&leader->worker, &leader->self);
    broadcast(leader);
    if (find_absent(leader) == count)
        gather_records(leader);
    size_t absent = find_absent(leader);
    if (absent < count)
        return give_up(leader, absent);
    if (leader->self.rank > 0) {
        enum status ignored;
        struct error late;
        worker_finish(&leader->worker, &ignored, &late);
        return STATUS_OK;
    }
    finish(leader);
    if (leader->own.state == HAS_LEFT)
        return leader->status;
    complain("%s", leader->own.err.text);
    return leader->own.err.status;
}

static size_t size_of(MPI_Comm group)
{
    int size = 1;
    MPI_Comm_size(group, &size);
    return (size_t)size;
}

static enum status join_and_lead(struct leader *leader)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int rank = 0, length;
    MPI_Comm machine;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Get_processor_name(name, &length);
    leader->self = (struct cluster){(size_t)rank, size_of(MPI_COMM_WORLD), size_of(machine)};
    snprintf(leader->own.machine, sizeof(leader->own.machine), "%.63s", name);
    leader->all = calloc(leader->self.size, sizeof(*leader->all));
    if (!leader->all) {
        complain("out of memory");
        MPI_Abort(MPI_COMM_WORLD, STATUS_LIMIT);
    }
    enum status status = lead(leader);
    MPI_Comm_free(&machine);
    MPI_Finalize();
    free(leader->all);
    buffer_release(&leader->bytes);
    return status;
}

/* True if a launcher of MPI started the program: Open MPI, MPICH and those like it, or Slurm. Not
 * so, MPI_Init() would start processes of its own. */
static bool is_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
    const char *wish = getenv("MEMSNAP_MPI");
    bool launched = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        launched = launched || getenv(names[i]);
    return launched && !(wish && strcmp(wish, "no") == 0);
}

enum status cluster_run(const struct command *command, int argc, char **argv)
{
    struct leader leader = {.own.state = HAS_MORE};
    enum status status;
    if (!command->spreads || !is_launched())
        return command->run(argc, argv);
    return worker_start(&leader.worker, command, argc, argv, &status) ? join_and_lead(&leader)
                                                                      : status;
}
