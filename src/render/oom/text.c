#include <inttypes.h>
#include <string.h>

#include "analysis/oom/error_words.h"
#include "analysis/oom/source_words.h"
#include "render/core/device_use.h"
#include "render/core/escape.h"
#include "render/core/table.h"
#include "render/oom/oom.h"

#define INDENT       2
#define EARLIER_TOLD 3 /* errors of a rank before its last, a line each */

static bool put(const struct page *page, const char *lead, const char *words)
{
    struct buffer text = BUFFER_INIT;
    buffer_puts(&text, lead);
    escape_text(&text, words, strlen(words));
    bool ok = !text.failed;
    if (ok) {
        fprintf(page->out, "%*s", INDENT, "");
        page_paragraph(page, INDENT, INDENT + 2, text.bytes);
    }
    buffer_release(&text);
    return ok;
}

static bool is_same_process(const struct oom_error *a, const struct oom_error *b)
{
    const struct oom_message *x = &a->entry->message, *y = &b->entry->message;
    return x->rank == y->rank && x->pid == y->pid && x->container == y->container &&
           x->device == y->device;
}

/* "trainer-1, rank 3, GPU 0, line 1,201" */
static void add_place(struct buffer *text, const struct oom_log *log, const struct oom_error *error)
{
    const struct oom_message *message = &error->entry->message;
    char number[UNITS_TEXT_SIZE];
    struct text container = symbols_text(log->symbols, message->container);
    if (container.size > 0) {
        escape_text(text, container.bytes, container.size);
        buffer_puts(text, ", ");
    }
    if (message->rank >= 0)
        buffer_printf(text, "rank %" PRId64 ", ", message->rank);
    else if (message->pid >= 0)
        buffer_printf(text, "process %" PRId64 ", ", message->pid);
    if (message->device >= 0)
        buffer_printf(text, "%s %" PRId64 ", ", strcmp(message->backend, "NPU") ? "GPU" : "NPU",
                      message->device);
    buffer_printf(text, "line %s", units_count(number, message->line));
}

/* ": 240.00 MiB requested by train.py:27 forward" */
static void add_request(const struct page *page, struct buffer *text, const struct oom_error *error)
{
    const struct oom_message *message = &error->entry->message;
    const char *event = oom_source_event(message->source);
    char size[UNITS_TEXT_SIZE];
    if (event) {
        buffer_printf(text, ": %s", event);
        return;
    }
    if (message->requested.is_stated)
        buffer_printf(text, ": %s requested", page_size(page, size, message->requested.bytes));
    else if (message->source == OOM_SOURCE_HUGE)
        buffer_puts(text, ": more than 1 EiB requested");
    else
        buffer_puts(text, ": a request of unknown size");
    if (error->asker) {
        buffer_puts(text, " by ");
        escape_text(text, error->asker, strlen(error->asker));
    }
}

static bool headline(const struct page *page, const struct oom_log *log,
                     const struct oom_error *error)
{
    struct buffer text = BUFFER_INIT;
    char count[UNITS_TEXT_SIZE];
    add_place(&text, log, error);
    add_request(page, &text, error);
    if (error->entry->count > 1)
        buffer_printf(&text, " (in the log %s times)", units_count(count, error->entry->count));
    bool ok = !text.failed;
    if (ok) {
        fputs(page_style(page, STYLE_WARNING), page->out);
        page_paragraph(page, 0, INDENT, text.bytes);
        fputs(page_plain(page), page->out);
    }
    buffer_release(&text);
    return ok;
}

static void add_row(struct table *table, const struct page *page, const char *label, uint64_t bytes,
                    uint64_t whole)
{
    char size[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE];
    table_add(table, label);
    table_add(table, page_size(page, size, bytes));
    table_add(table, page_share(share, (int64_t)(bytes / 2), (int64_t)(whole / 2)));
}

static void add_part(struct table *table, const struct page *page, const char *label,
                     uint64_t bytes, uint64_t whole)
{
    if (bytes > 0)
        add_row(table, page, label, bytes, whole);
}

static void add_own_process(struct table *table, const struct page *page,
                            const struct oom_account *account)
{
    char label[UNITS_TEXT_SIZE + 64];
    snprintf(label, sizeof(label), "this process (%" PRIu64 ") outside of PyTorch",
             account->own_pid);
    add_part(table, page, account->own_pid > 0 ? label : "this process outside of PyTorch",
             account->own_bytes, account->total_bytes);
}

static void add_processes(struct table *table, const struct page *page,
                          const struct oom_message *message, const struct oom_account *account)
{
    char label[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < message->process_count; i++) {
        const struct oom_process *process = &message->processes[i];
        if (account->own_pid > 0 && process->pid == account->own_pid)
            continue;
        snprintf(label, sizeof(label), "process %" PRIu64, process->pid);
        add_row(table, page, label, process->used.bytes, account->total_bytes);
    }
}

/* The bytes that the sizes do not account for, beyond their rounding. */
static const char *rest_label(const struct oom_account *account)
{
    if (account->unexplained_bytes <= account->slack_bytes)
        return "rounding";
    return account->own_is_known || account->process_bytes > 0 ? "not accounted for"
                                                               : "outside of PyTorch";
}

/* A part of the device a row; the parts sum to its memory. */
static bool division(const struct page *page, const struct oom_error *error)
{
    static const struct table_column columns[] = {
        {.title = NULL, .kind = COLUMN_LABEL},
        {.title = "", .kind = COLUMN_NUMBER},
        {.title = "", .kind = COLUMN_NUMBER},
    };
    const struct oom_account *account = &error->account;
    uint64_t whole = account->total_bytes;
    struct table table;
    if (!account->is_known)
        return true;
    table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    add_row(&table, page, "in use by PyTorch", account->used_bytes, whole);
    add_part(&table, page, "reserved but unallocated", account->unallocated_bytes, whole);
    add_part(&table, page, "unused in private pools", account->private_bytes, whole);
    add_own_process(&table, page, account);
    add_processes(&table, page, &error->entry->message, account);
    add_row(&table, page, "free", account->free_bytes, whole);
    add_part(&table, page, rest_label(account), account->unexplained_bytes, whole);
    add_row(&table, page, "the device", whole, whole);
    table_print(&table, page, INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}

/* Adds up to what the device's monitor showed. */
static bool used(const struct page *page, const struct oom_error *error)
{
    const struct oom_account *account = &error->account;
    struct buffer text = BUFFER_INIT;
    if (!account->is_known || account->excess_bytes > 0)
        return true;
    device_use_add(&text, page,
                   &(struct device_use){account->used_bytes,
                                        account->reserved_bytes - account->used_bytes,
                                        account->outside_bytes, account->total_bytes,
                                        oom_monitor(&error->entry->message)});
    bool ok = !text.failed && put(page, "", text.bytes);
    buffer_release(&text);
    return ok;
}

/* Sizes that contradict each other are said to do so. */
static bool contradiction(const struct page *page, const struct oom_account *account)
{
    struct buffer text = BUFFER_INIT;
    char size[UNITS_TEXT_SIZE];
    if (account->excess_bytes == 0)
        return true;
    buffer_printf(&text,
                  "the parts are %s more than the device has: on Windows the driver moves memory "
                  "of the device to the CPU's, and PyTorch counts it",
                  page_size(page, size, account->excess_bytes));
    bool ok = !text.failed && put(page, "", text.bytes);
    buffer_release(&text);
    return ok;
}

static bool earlier(const struct page *page, const struct oom_report *report, size_t last)
{
    const struct oom_errors *errors = report->errors;
    size_t told[EARLIER_TOLD], count = 0;
    struct buffer text = BUFFER_INIT;
    for (size_t i = last; i-- > 0 && count < EARLIER_TOLD;)
        if (is_same_process(&errors->items[i], &errors->items[last]))
            told[count++] = i;
    bool ok = true;
    while (ok && count-- > 0) {
        const struct oom_error *error = &errors->items[told[count]];
        buffer_clear(&text);
        buffer_puts(&text, "earlier, ");
        add_place(&text, report->log, error);
        add_request(page, &text, error);
        buffer_printf(&text, "; %s", oom_verdict_text(error->verdict));
        ok = !text.failed;
        if (ok) {
            fprintf(page->out, "%*s", INDENT, "");
            page_paragraph(page, INDENT, INDENT + 2, text.bytes);
        }
    }
    buffer_release(&text);
    return ok;
}

static bool is_last(const struct oom_errors *errors, size_t at)
{
    for (size_t i = at + 1; i < errors->count; i++)
        if (is_same_process(&errors->items[i], &errors->items[at]))
            return false;
    return true;
}

static bool explain(const struct page *page, const struct oom_report *report, size_t at)
{
    const struct oom_error *error = &report->errors->items[at];
    fputc('\n', page->out);
    return headline(page, report->log, error) && division(page, error) && used(page, error) &&
           contradiction(page, &error->account) && put(page, "", error->sentence) &&
           put(page, "next: ", error->next) && earlier(page, report, at);
}

static bool title(const struct page *page, const struct oom_report *report)
{
    const struct oom_log *log = report->log;
    char total[UNITS_TEXT_SIZE], lines[UNITS_TEXT_SIZE];
    struct buffer text = BUFFER_INIT;
    const char *path = strcmp(report->path, "-") == 0 ? "standard input" : report->path;
    escape_text(&text, path, strlen(path));
    buffer_printf(&text, ": %s out-of-memory error%s in %s line%s", units_count(total, log->total),
                  log->total == 1 ? "" : "s", units_count(lines, log->lines),
                  log->lines == 1 ? "" : "s");
    if (log->total > log->count)
        buffer_printf(&text, ", of which the first %s are read", units_count(total, log->count));
    bool ok = !text.failed;
    if (ok) {
        fputs(page_style(page, STYLE_TITLE), page->out);
        page_paragraph(page, 0, INDENT, text.bytes);
        fputs(page_plain(page), page->out);
    }
    buffer_release(&text);
    return ok;
}

/* The exception to catch: PyTorch's own has had two names, and calls to libraries raise neither. */
static const char *exception_of(const struct oom_report *report, const struct oom_message *message)
{
    const char *name = symbols_text(report->log->symbols, message->exception).bytes;
    if (message->source == OOM_SOURCE_DRIVER || message->source == OOM_SOURCE_LIBRARY ||
        strcmp(name, "RuntimeError") == 0)
        return "RuntimeError";
    return strcmp(name, "torch.cuda.OutOfMemoryError") == 0 ? "torch.cuda.OutOfMemoryError"
                                                            : "torch.OutOfMemoryError";
}

/* The code that records a snapshot of the next failure. */
static void how_to_record(const struct page *page, const struct oom_report *report)
{
    const struct oom_errors *errors = report->errors;
    const struct oom_message *message = &errors->items[errors->count - 1].entry->message;
    bool is_xpu = strcmp(message->backend, "XPU") == 0,
         is_npu = strcmp(message->backend, "NPU") == 0;
    const char *module = is_xpu ? "xpu" : is_npu ? "npu" : "cuda";
    const char *name = message->rank >= 0 ? "f\"oom-rank{rank}.pickle\"" : "\"oom.pickle\"";
    if (!oom_source_is_recorded(message->source) || strcmp(message->backend, "MPS") == 0)
        return; /* there are no snapshots of this memory */
    fprintf(page->out,
            "\nTo see what holds the memory, record a snapshot when it happens:\n\n"
            "    torch.%s.memory._record_memory_history()\n"
            "    try:\n"
            "        train()\n"
            "    except %s:\n"
            "        torch.%s.memory._dump_snapshot(%s)\n"
            "        raise\n\n"
            "then: memsnap analyze %s\n",
            module, exception_of(report, message), module, name,
            message->rank >= 0 ? "oom-rank*.pickle" : "oom.pickle");
}

bool oom_report_text(const struct page *page, const struct oom_report *report)
{
    const struct oom_errors *errors = report->errors;
    size_t ranks = 0;
    char count[UNITS_TEXT_SIZE];
    bool ok = title(page, report);
    for (size_t i = 0; ok && i < errors->count; i++) {
        if (!is_last(errors, i) || (++ranks > report->top && report->top > 0))
            continue;
        ok = explain(page, report, i);
    }
    if (ok && report->top > 0 && ranks > report->top)
        fprintf(page->out, "\n%s more rank%s ran out of memory; --top 0 explains all\n",
                units_count(count, ranks - report->top), ranks - report->top == 1 ? "" : "s");
    if (ok)
        how_to_record(page, report);
    return ok;
}
