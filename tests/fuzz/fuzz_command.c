/* libFuzzer entry: whole commands, run in this process. The first byte chooses the command line,
 * the others are the file that it reads; "\n---\n" in them ends another file before it, for options
 * that read one. The sandbox and other processes are left out. */
#define _GNU_SOURCE /* memfd_create */
#include <ftw.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/cli/command.h"
#include "commands/plot/process.h"
#include "commands/sandbox/device_process.h"
#include "commands/sandbox/sandbox.h"

#define MOST_WORDS 32
#define SEPARATOR  "\n---\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A command line: $ is the file, % the other one, @ a folder to write to. */
struct line {
    const struct command *command;
    const char *words;
    enum { PLAIN, IS_JSON, IS_JSON_LINES } prints; /* what standard output must be */
};

#define ALL " --max-memory 32MiB"

static const struct line lines[] = {
    {&command_analyze, "analyze --stacks -v --jobs 1 $" ALL, PLAIN},
    {&command_analyze, "analyze --format json --allocations --jobs 1 $" ALL, IS_JSON},
    {&command_analyze, "analyze --at end --stacks=all --top 0 --gpu-memory 24GiB $" ALL, PLAIN},
    {&command_analyze, "analyze --at 7 --range :40 --units bytes $" ALL, PLAIN},
    {&command_analyze, "analyze --at +20us --range 3:+1s --format json $" ALL, IS_JSON},
    {&command_analyze, "analyze --explain py --jobs 1 $ $" ALL, PLAIN},
    {&command_analyze, "analyze --explain 0x7f0000000000 $" ALL, PLAIN},
    {&command_analyze, "analyze --rules % --jobs 1 --format text $ $" ALL, PLAIN},
    {&command_analyze, "analyze --ranks 3 --top 2 --device 0 $" ALL, PLAIN},
    {&command_analyze, "analyze --ranks 3 --format json $" ALL, IS_JSON},
    {&command_check,
     "check --max-peak 1KiB --max-reserved 1MiB --max-fragmentation 3% --no-oom"
     " --max-category activation=1KiB --max-site *.py:*=1MiB --jobs 1 $" ALL,
     PLAIN},
    {&command_check, "check --max-growth 0 --no-leaks --no-oom $" ALL, PLAIN},
    {&command_check, "check --no-oom --max-peak 1 --format json --rules % $ $" ALL, IS_JSON},
    {&command_check, "check --max-peak 1 --format github --source-root / $" ALL, PLAIN},
    {&command_check, "check --max-site *=1 --at end --format junit $" ALL, PLAIN},
    {&command_check, "check --baseline $ --max-increase 0% --max-peak 1 $" ALL, PLAIN},
    {&command_check, "check --max-memory-after-suggest 2=1KiB --max-peak 9TiB $" ALL, PLAIN},
    {&command_check, "check --policy % $" ALL, PLAIN},
    {&command_check, "check --policy % --format json --jobs 1 $ $" ALL, IS_JSON},
    {&command_convert, "convert $" ALL, IS_JSON},
    {&command_convert, "convert --to msgpack $" ALL, PLAIN},
    {&command_diff, "diff --at-a 5 --at-b end --stacks $ $" ALL, PLAIN},
    {&command_diff, "diff --at-a 3 --format json $ $" ALL, IS_JSON},
    {&command_diff, "diff --at end --format csv --by category --fail-over 5% $ %" ALL, PLAIN},
    {&command_diff, "diff --top 0 --stacks=all --fail-over 1KiB --rules none $ %" ALL, PLAIN},
    {&command_diff, "diff --device 0:1 --by phase --range :50 $ $" ALL, PLAIN},
    {&command_dump, "dump $" ALL, IS_JSON},
    {&command_dump, "dump $ $" ALL, IS_JSON_LINES},
    {&command_export, "export $" ALL, PLAIN},
    {&command_export, "export --table events --format jsonl $" ALL, IS_JSON_LINES},
    {&command_export, "export --table events --range 2:9 --format msgpack $" ALL, PLAIN},
    {&command_export, "export --table segments --at peak --format jsonl $" ALL, IS_JSON_LINES},
    {&command_export, "export --table blocks --at 6 $" ALL, PLAIN},
    {&command_export, "export --table sites --range :90 --rules % $" ALL, PLAIN},
    {&command_export, "export --table stacks --format jsonl $" ALL, IS_JSON_LINES},
    {&command_export, "export --table annotations $" ALL, PLAIN},
    {&command_export, "export --format jsonl --device 0 $" ALL, IS_JSON_LINES},
    {&command_export, "export --as snapshot $" ALL, PLAIN},
    {&command_export, "export --as snapshot --range 4:60 $" ALL, PLAIN},
    {&command_flame, "flame $" ALL, PLAIN},
    {&command_flame, "flame --weight bytes-time --by category --stacks all $" ALL, PLAIN},
    {&command_flame, "flame --weight allocated --by phase --format speedscope $" ALL, IS_JSON},
    {&command_flame, "flame --at end --format speedscope --rules % $" ALL, IS_JSON},
    {&command_oom, "oom $" ALL, PLAIN},
    {&command_oom, "oom --format json --top 0 $" ALL, IS_JSON},
    {&command_plot, "plot --script @ $" ALL, PLAIN},
    {&command_plot, "plot --script @ --kind categories --x time $" ALL, PLAIN},
    {&command_plot, "plot --script @ --kind segments --at end $" ALL, PLAIN},
    {&command_plot, "plot --script @ --kind sites --at 5 $" ALL, PLAIN},
    {&command_plot, "plot --script @ --kind phases $" ALL, PLAIN},
    {&command_plot, "plot --script @ --kind flame $" ALL, PLAIN},
    {&command_plot, "plot --script @ --kind report --color site --bands 9 $" ALL, PLAIN},
    {&command_plot, "plot --script @ --kind compare --x share $ $" ALL, PLAIN},
    {&command_plot, "plot --script @ --kind pareto $" ALL, PLAIN},
    {&command_plot, "plot --script @ --kind layers $" ALL, PLAIN},
    {&command_plot, "plot --out @.html --x time --color size $" ALL, PLAIN},
    {&command_plot, "plot --out @.html --rules % --range :70 $" ALL, PLAIN},
    {&command_suggest, "suggest --threads 1 $" ALL, PLAIN},
    {&command_suggest, "suggest --threads 1 --format json --granularity leaf $" ALL, IS_JSON},
    {&command_suggest, "suggest --threads 1 --format csv --granularity 2 $" ALL, PLAIN},
    {&command_suggest, "suggest --checkpoints 3 --skip-layers 1 $" ALL, PLAIN},
    {&command_suggest, "suggest --checkpoints 2 --format json --times % $" ALL, IS_JSON},
    {&command_suggest,
     "suggest --budget 60% --model peak --threads 1 --backend cpu --times % $" ALL, PLAIN},
    {&command_suggest,
     "suggest --budgets 1MiB,50% --model rotor --slots 40 --threads 1 --backend cpu $" ALL, PLAIN},
    {&command_suggest,
     "suggest --budget 70% --slots 30 --threads 1 --backend cpu --format json"
     " --granularity *lay* $" ALL,
     IS_JSON},
};
#define LINE_COUNT (sizeof(lines) / sizeof(lines[0]))

/* In place of those of src/commands, which are not linked then. */

void sandbox_enter(const char *output_path)
{
    (void)output_path;
}

int sandbox_ask(int (*question)(void *self), void *self)
{
    return question(self);
}

const char *sandbox_kind(void)
{
    return "none";
}

void device_process_start(void)
{
}

bool device_process_stop(void)
{
    return true;
}

void plot_signals_hold(void)
{
}

void plot_signals_release(void)
{
}

bool plot_run_apart(enum status (*work)(void *self), void *self, enum status *status,
                    struct error *err)
{
    (void)err;
    *status = work(self);
    return true;
}

char *plot_find_gnuplot(struct error *err)
{
    error_set(err, STATUS_IO, "cannot find gnuplot");
    return NULL;
}

bool plot_gnuplot_has(const char *gnuplot, const char *terminal)
{
    (void)gnuplot, (void)terminal;
    return false;
}

bool plot_run_gnuplot(const char *gnuplot, const char *folder, int fd, struct error *err)
{
    (void)gnuplot, (void)folder, (void)fd;
    return error_set(err, STATUS_IO, "cannot find gnuplot");
}

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

/* The command's input and output files, the same for every run. */
static struct {
    int file, other;
    char file_path[32], other_path[32];
    char folder[64], page[80];
} place;

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(place.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    remove(place.page);
}

static void make_place(void)
{
    const char *temporary = getenv("TMPDIR");
    place.file = memfd_create("file", MFD_CLOEXEC);
    place.other = memfd_create("other", MFD_CLOEXEC);
    snprintf(place.file_path, sizeof(place.file_path), "/proc/self/fd/%d", place.file);
    snprintf(place.other_path, sizeof(place.other_path), "/proc/self/fd/%d", place.other);
    snprintf(place.folder, sizeof(place.folder), "%.40s/memsnap-fuzz.XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    require(place.file >= 0 && place.other >= 0 && mkdtemp(place.folder));
    snprintf(place.page, sizeof(place.page), "%s.html", place.folder);
    setenv("XDG_CONFIG_HOME", place.folder, 1);
    unsetenv("GITHUB_WORKSPACE");
    atexit(remove_folder);
}

static void fill(int fd, const uint8_t *data, size_t size)
{
    require(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
}

/* A command may write to its arguments: they are in `text`. */
static int split_words(const char *words, char text[1024], char *argv[MOST_WORDS])
{
    int argc = 0;
    size_t used = 0;
    for (size_t size; *words; words += size + (words[size] != '\0')) {
        size = strcspn(words, " ");
        char word[256];
        snprintf(word, sizeof(word), "%.*s", (int)size, words);
        const char *meant = strcmp(word, "$") == 0        ? place.file_path
                            : strcmp(word, "%") == 0      ? place.other_path
                            : strcmp(word, "@") == 0      ? place.folder
                            : strcmp(word, "@.html") == 0 ? place.page
                                                          : word;
        argv[argc] = text + used;
        used += (size_t)snprintf(text + used, 1024 - used, "%s", meant) + 1;
        require(used < 1024 && ++argc < MOST_WORDS);
    }
    argv[argc] = NULL;
    return argc;
}

/* Valid JSON that jansson refuses. */
static bool is_jansson_limit(const json_error_t *error)
{
    enum json_error_code code = json_error_code(error);
    return code == json_error_numeric_overflow || code == json_error_stack_overflow ||
           code == json_error_null_byte_in_key;
}

static void check_json(const char *bytes, size_t size, bool is_lines)
{
    while (size > 0) {
        const char *end = is_lines ? memchr(bytes, '\n', size) : NULL;
        size_t length = end ? (size_t)(end - bytes) : size;
        json_error_t error;
        json_t *value = json_loadb(bytes, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
        require(value || is_jansson_limit(&error));
        json_decref(value);
        length += end != NULL;
        bytes += length;
        size -= length;
    }
}

/* Lines that begin with the program's name, of printable characters only. */
static void check_complaints(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bool begins = i == 0 || bytes[i - 1] == '\n';
        require(!begins || (size - i > 9 && memcmp(bytes + i, "memsnap: ", 9) == 0));
        require(bytes[i] == '\n' || (unsigned char)bytes[i] >= ' ');
    }
    require(size == 0 || bytes[size - 1] == '\n');
}

static void run(const struct line *line)
{
    char text[1024], *argv[MOST_WORDS];
    int argc = split_words(line->words, text, argv);
    char *printed = NULL, *told = NULL;
    size_t printed_size = 0, told_size = 0;
    FILE *out = stdout, *err = stderr;
    FILE *own_out = open_memstream(&printed, &printed_size);
    FILE *own_err = open_memstream(&told, &told_size);
    require(own_out && own_err);
    int next = optind; /* of main() */
    optind = 0;
    stdout = own_out;
    stderr = own_err;
    enum status status = line->command->run(argc, argv);
    stdout = out;
    stderr = err;
    optind = next;
    fclose(own_out);
    fclose(own_err);
    require(status <= STATUS_IO && status != STATUS_IO);
    require(status <= STATUS_CHECK_FAILED || told_size > 0);
    check_complaints(told, told_size);
    if (status <= STATUS_CHECK_FAILED && line->prints != PLAIN)
        check_json(printed, printed_size, line->prints == IS_JSON_LINES);
    free(printed);
    free(told);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (place.file_path[0] == '\0')
        make_place();
    const struct line *line = &lines[data[0] % LINE_COUNT];
    const uint8_t *other = ++data;
    size_t other_size = --size;
    const uint8_t *found = memmem(data, size, SEPARATOR, strlen(SEPARATOR));
    if (found) {
        other_size = (size_t)(found - data);
        data = found + strlen(SEPARATOR);
        size -= other_size + strlen(SEPARATOR);
    }
    fill(place.other, other, other_size);
    fill(place.file, data, size);
    run(line);
    return 0;
}
