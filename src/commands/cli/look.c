#include "commands/cli/look.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/sandbox/sandbox.h"
#include "decode/profiler/start.h"

#define LOOK_MEMORY ((size_t)64 * 1024 * 1024) /* bytes, for each file */
#define BATCH       64                         /* files per child process */

struct question {
    int fds[BATCH];
    const struct look_for *what;
    struct look *answers; /* BATCH, in memory that both processes share */
};

static bool is_wanted(struct source *source, const struct look_for *what, enum file_kind kind)
{
    struct error ignored;
    enum encoding encoding;
    return (what->kinds && what->kinds(kind)) || (what->logs && sniff_is_log(source)) ||
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
    look.wanted = is_wanted(&source, what, kind);
    if (!look.wanted)
        describe(&look, &source, kind);
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
