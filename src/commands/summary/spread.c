#include "commands/summary/spread.h"

#include <stdlib.h>
#include <string.h>

#include "commands/cli/files.h"
#include "commands/sandbox/sandbox.h"
#include "render/summary/summary.h"

/* A record of cluster_send() begins with this. A file of one summary follows; or, if the input
 * failed, its struct error. */
struct record {
    uint64_t input; /* index */
    uint64_t failed;
};

/* Standard input goes to process 0. */
static size_t owner_of(const char *path, size_t index)
{
    return strcmp(path, "-") == 0 ? 0 : index % cluster_self()->size;
}

static bool choose_own(struct inputs *inputs, struct error *err)
{
    inputs->elsewhere = calloc(inputs->count + 1, sizeof(*inputs->elsewhere));
    if (!inputs->elsewhere)
        return error_out_of_memory(err);
    for (size_t i = 0; i < inputs->count; i++)
        inputs->elsewhere[i] = owner_of(inputs->paths[i], i) != cluster_self()->rank;
    return true;
}

bool spread_follows(void)
{
    return cluster_self() && cluster_self()->rank > 0;
}

bool spread_share(struct inputs *inputs, struct error *err)
{
    struct buffer paths = BUFFER_INIT;
    if (!cluster_self())
        return true;
    for (size_t i = 0; i < inputs->count; i++)
        buffer_add(&paths, inputs->paths[i], strlen(inputs->paths[i]) + 1);
    bool ok = paths.failed ? error_out_of_memory(err) : cluster_broadcast(&paths, err);
    buffer_release(&paths);
    return ok && choose_own(inputs, err);
}

static enum status read_part(void *self, struct inputs *inputs)
{
    struct gathering gathering;
    struct error err;
    bool ok = choose_own(inputs, &err) && inputs_open(inputs, &err);
    if (ok) {
        sandbox_enter(NULL);
        ok = gather(&gathering, inputs, self, stdout, &err);
    }
    if (!ok) {
        cluster_fail(&err);
        return err.status;
    }
    gathering_release(&gathering);
    return STATUS_OK;
}

/* Splits texts that each end with a NUL character. */
static char **split(const struct buffer *texts, size_t *count)
{
    size_t made = 0;
    *count = 0;
    for (size_t i = 0; i < texts->size; i++)
        *count += texts->bytes[i] == '\0';
    char **parts = calloc(*count + 1, sizeof(*parts));
    for (char *at = texts->bytes; parts && made < *count; at += strlen(at) + 1)
        parts[made++] = at;
    return parts;
}

enum status spread_follow(const char *rules, const struct gather_options *options)
{
    const struct file_choice plain = {.most = 0};
    struct gather_options own = *options;
    struct buffer bytes = BUFFER_INIT;
    struct error err;
    size_t count;
    enum status status = STATUS_IO;
    if (cluster_broadcast(&bytes, &err)) {
        char **paths = split(&bytes, &count);
        if (paths)
            status = files_run_with_rules(rules, &own.capture, paths, (int)count, &plain, read_part,
                                          &own);
        free(paths);
    }
    buffer_release(&bytes);
    return status;
}

/* Sends what `write` prints. */
static bool send_written(const struct record *head, const void *more, size_t size, bool is_bin,
                         struct error *err)
{
    char *bytes = NULL;
    size_t written = 0;
    FILE *stream = open_memstream(&bytes, &written);
    if (!stream)
        return error_out_of_memory(err);
    fwrite(head, 1, sizeof(*head), stream);
    if (is_bin) {
        summaries_begin(stream);
        summaries_add(stream, (struct text){more, size});
    } else {
        fwrite(more, 1, size, stream);
    }
    bool ok = fclose(stream) == 0 ? cluster_send((struct text){bytes, written}, err)
                                  : error_out_of_memory(err);
    free(bytes);
    return ok;
}

static bool send_slot(struct gather_slot *slot, size_t input, struct error *err)
{
    const struct record head = {.input = input, .failed = slot->failed};
    if (slot->failed)
        return send_written(&head, &slot->err, sizeof(slot->err), false, err);
    for (size_t i = 0; i < slot->list.count; i++) {
        struct gathered *item = &slot->list.items[i];
        if ((!item->bin && !gathered_pack(item, err)) ||
            !send_written(&head, item->bin, item->bin_size, true, err))
            return false;
    }
    gathered_release(&slot->list);
    return true;
}

struct receiver {
    struct gather_slot *slots;
    const struct inputs *inputs;
    struct gathered_parts parts;
    size_t memory;
    struct gather_slot *slot; /* of the record */
};

static bool take_summary(void *self, struct summary *summary, struct text bin, struct error *err)
{
    const struct receiver *receiver = self;
    return gathered_take(&receiver->slot->list, summary, bin, receiver->parts, err);
}

static bool receive_record(struct receiver *receiver, const struct buffer *bytes, struct error *err)
{
    struct record head;
    struct input input;
    if (bytes->size >= sizeof(head))
        memcpy(&head, bytes->bytes, sizeof(head));
    if (bytes->size < sizeof(head) || head.input >= receiver->inputs->count ||
        !receiver->inputs->elsewhere[head.input])
        return error_set(err, STATUS_IO, "another MPI process sent something other than a summary");
    const char *rest = bytes->bytes + sizeof(head);
    size_t size = bytes->size - sizeof(head);
    receiver->slot = &receiver->slots[head.input];
    receiver->slot->failed = head.failed != 0;
    if (!receiver->slot->failed)
        return input_from_memory(&input, rest, size, receiver->memory, err) &&
               summaries_load_input(&input, take_summary, receiver, err);
    if (size == sizeof(receiver->slot->err))
        memcpy(&receiver->slot->err, rest, size);
    receiver->slot->err.text[sizeof(receiver->slot->err.text) - 1] = '\0';
    return true;
}

static bool receive_all(struct receiver *receiver, struct error *err)
{
    struct buffer record = BUFFER_INIT;
    bool ok;
    while ((ok = cluster_receive(&record, err)) && record.size > 0)
        if (!(ok = receive_record(receiver, &record, err)))
            break;
    buffer_release(&record);
    return ok;
}

bool spread_collect(struct gather_slot *slots, const struct inputs *inputs,
                    const struct gather_options *options, size_t memory, struct error *err)
{
    struct receiver receiver = {
        .slots = slots, .inputs = inputs, .parts = gather_parts(options), .memory = memory};
    if (!cluster_self())
        return true;
    for (size_t i = 0; spread_follows() && i < inputs->count; i++)
        if (!inputs->elsewhere[i] && !send_slot(&slots[i], i, err))
            return false;
    return cluster_finish(err) && (spread_follows() || receive_all(&receiver, err));
}
