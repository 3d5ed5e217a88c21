#include "commands/cli/look.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/sandbox/sandbox.h"
#include "decode/core/others.h"
#include "decode/log/lines.h"
#include "decode/log/message.h"
#include "decode/profiler/start.h"

#define LOOK_MEMORY   ((size_t)64 * 1024 * 1024)    /* bytes, for each file */
#define LOG_LOOK_MOST ((uint64_t)256 * 1024 * 1024) /* bytes of a log that are looked at */
#define BATCH         64                            /* files per child process */

struct question {
    int fds[BATCH];
    const struct look_for *what;
    struct look *answers; /* BATCH, in memory that both processes share */
};

static bool take_line(void *self, const struct log_line *line, struct error *err)
{
    (void)err;
    bool *tells = self;
    struct text rest;
    struct oom_message message;
    const char *at = oom_text_find(line->text, &rest), *end = line->text.bytes + line->text.size;
    *tells = (at && oom_text_parse((struct text){at, (size_t)(end - at)}, &message)) ||
             text_find(line->text, SUMMARY_HEADING);
    return !*tells && line->offset < LOG_LOOK_MOST;
}

/* True if any line of a log is worth a report. */
static bool log_tells(struct source *source)
{
    struct error ignored;
    bool tells = false;
    log_lines_each(source, take_line, &tells, &ignored);
    return tells;
}

static bool is_wanted(struct source *source, const struct look_for *what, enum file_kind kind)
{
    struct error ignored;
    enum encoding encoding;
    return (what->kinds && what->kinds(kind)) || (what->logs && sniff_is_log(source)) ||
           (what->told_logs && kind == KIND_UNKNOWN && sniff_is_log(source) && log_tells(source)) ||
           (what->pickles && sniff_encoding(source, &encoding, &ignored) &&
            encoding == ENCODING_PICKLE);
}

static void describe(struct look *look, struct source *source, enum file_kind kind)
{
    struct error ignored;
    enum encoding encoding;
    if (kind == KIND_UNKNOWN && sniff_encoding(source, &encoding, &ignored))
        snprintf(look->about, sizeof(look->about), "an unknown kind of %s",
                 encoding_name(encoding));
    else if (kind == KIND_UNKNOWN)
        snprintf(look->about, sizeof(look->about), "%s", sniff_description(source));
    else
        snprintf(look->about, sizeof(look->about), "%s%s", kind_name(kind), kind_advice(kind));
}

static struct look look_at(int fd, const struct look_for *what)
{
    struct budget budget = {.limit = LOOK_MEMORY};
    struct look look = {.rank = -1};
    struct source source;
    struct error ignored;
    struct stat info;
    look.is_empty = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
    if (fd < 0 || !source_open_fd(&source, fd, &budget, &ignored))
        return look;
    enum file_kind kind = sniff_kind(&source);
    describe(&look, &source, kind);
    look.wanted = is_wanted(&source, what, kind); /* may read on */
    if (kind == KIND_PROFILE)
        look.rank = profile_rank(&source);
    source_close(&source);
    return look;
}

/* Runs in a sandboxed process. */
static int answer(void *self)
{
    const struct question *question = self;
    for (int i = 0; i < BATCH; i++)
        question->answers[i] = look_at(question->fds[i], question->what);
    return 0;
}

static void look_at_batch(struct question *question, char *const *paths, size_t count,
                          struct look *looks)
{
    int *fds = question->fds;
    for (size_t i = 0; i < BATCH; i++)
        fds[i] = i < count ? open(paths[i], O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    bool answered = sandbox_ask(answer, question) == 0;
    for (size_t i = 0; i < BATCH; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    for (size_t i = 0; i < count; i++) {
        looks[i] = answered ? question->answers[i] : (struct look){.rank = -1};
        looks[i].about[LOOK_ABOUT - 1] = '\0';
    }
}

void look_at_files(char *const *paths, size_t count, const struct look_for *what,
                   struct look *looks)
{
    struct question question = {.what = what};
    size_t size = BATCH * sizeof(*question.answers);
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < count; i++)
        looks[i] = (struct look){.rank = -1};
    if (shared == MAP_FAILED)
        return;
    question.answers = shared;
    for (size_t first = 0; first < count; first += BATCH)
        look_at_batch(&question, paths + first, count - first < BATCH ? count - first : BATCH,
                      looks + first);
    munmap(shared, size);
}
