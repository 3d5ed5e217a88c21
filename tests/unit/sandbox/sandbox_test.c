/* Proof that the sandbox is on, and that what a run needs still works: each trial is a process of
 * its own, which enters and then tries. A layer that the build or the kernel lacks is not tried. */
#define _GNU_SOURCE /* memfd_create */
#include "commands/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands/sandbox/internal.h"
#include "unit/unit.h"

enum { SECCOMP = 1, LANDLOCK = 2, BOTH = SECCOMP | LANDLOCK };

static const int each_layer[] = {SECCOMP, LANDLOCK, BOTH};
#define LAYERS (int)(sizeof(each_layer) / sizeof(each_layer[0]))

static char folder[] = "/tmp/memsnap-sandbox-XXXXXX";
static char output[64], temporary[64], elsewhere[64];

static void make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void set_up(void)
{
    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(output, sizeof(output), "%s/out", folder);
    snprintf(temporary, sizeof(temporary), "%s/out.tmp", folder);
    snprintf(elsewhere, sizeof(elsewhere), "%s.file", folder); /* in another folder */
    make_file(temporary);
    make_file(elsewhere);
}

static void tear_down(void)
{
    unlink(output);
    unlink(temporary);
    unlink(elsewhere);
    rmdir(folder);
}

static bool lacks(int layers)
{
    const char *why_not;
    return strncmp(sandbox_kind(), "none", 4) == 0 ||
           (layers & SECCOMP && !seccomp_is_there(&why_not)) ||
           (layers & LANDLOCK && !landlock_is_there(&why_not));
}

static void enter(int layers, const char *output_path)
{
    if (layers == BOTH) {
        sandbox_enter(output_path);
        return;
    }
    if (layers & LANDLOCK)
        landlock_enter(output_path);
    if (layers & SECCOMP)
        seccomp_enter(output_path != NULL);
}

/* Runs `trial` inside: it returns the line that failed, or 0. */
static void try_inside(int layers, const char *output_path, int (*trial)(int layers))
{
    int status;
    if (lacks(layers))
        return;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        enter(layers, output_path);
        _exit(trial(layers) != 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "wait status %x, layers %d",
                  (unsigned)status, layers);
}

/* In a trial: reports the expectation that failed, on a descriptor opened before. */
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            dprintf(2, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno);           \
            return __LINE__;                                                                       \
        }                                                                                          \
    } while (0)

static bool refused(long result)
{
    return result == -1 && (errno == EPERM || errno == EACCES);
}

static int opens(int layers)
{
    (void)layers;
    EXPECT(refused(open("/etc/passwd", O_RDONLY)));
    EXPECT(refused(open("/dev/null", O_WRONLY)));
    EXPECT(refused(open("/", O_RDONLY | O_DIRECTORY)));
    EXPECT(refused(open(output, O_WRONLY | O_CREAT, 0600)));
    EXPECT(refused(open(temporary, O_RDWR | O_TRUNC)));
    EXPECT(fopen("/proc/self/maps", "r") == NULL);
    EXPECT(refused(mkdir("/tmp/memsnap-sandbox-folder", 0700)));
    EXPECT(refused(symlink("/etc/passwd", "/tmp/memsnap-sandbox-link")));
    return 0;
}

static int starts_programs(int layers)
{
    char *arguments[] = {(char *)(uintptr_t) "true", NULL};
    EXPECT(refused(execve("/bin/true", arguments, arguments + 1)));
    if (layers & SECCOMP) {
        EXPECT(refused(fork()));
        EXPECT(refused(memfd_create("program", 0)));
        EXPECT(refused(ptrace(PTRACE_TRACEME, 0, NULL, NULL)));
        EXPECT(refused(kill(getppid(), 0)));
        EXPECT(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
               MAP_FAILED);
    }
    return 0;
}

static int makes_sockets(int layers)
{
    if (layers & SECCOMP) {
        int pair[2];
        EXPECT(refused(socket(AF_INET, SOCK_STREAM, 0)));
        EXPECT(refused(socket(AF_UNIX, SOCK_STREAM, 0)));
        EXPECT(refused(socketpair(AF_UNIX, SOCK_STREAM, 0, pair)));
    }
    return 0;
}

static int changes_files_without_an_output(int layers)
{
    (void)layers;
    EXPECT(refused(rename(temporary, output)));
    EXPECT(refused(unlink(temporary)));
    EXPECT(refused(unlink(elsewhere)));
    return 0;
}

static int changes_files_elsewhere(int layers)
{
    EXPECT(refused(rmdir(folder)));
    if (layers & LANDLOCK) { /* the other layer cannot tell the folders apart */
        EXPECT(refused(unlink(elsewhere)));
        EXPECT(rename(temporary, elsewhere) == -1);
        EXPECT(rename(elsewhere, output) == -1);
    }
    return 0;
}

START_TEST(what_a_run_does_not_need_is_refused)
{
    int layers = each_layer[_i];
    try_inside(layers, NULL, opens);
    try_inside(layers, output, opens);
    try_inside(layers, NULL, starts_programs);
    try_inside(layers, output, starts_programs);
    try_inside(layers, NULL, makes_sockets);
    try_inside(layers, NULL, changes_files_without_an_output);
    try_inside(layers, output, changes_files_elsewhere);
}
END_TEST

static int renames(int layers)
{
    (void)layers;
    EXPECT(rename(temporary, output) == 0);
    EXPECT(unlink(output) == 0);
    return 0;
}

static int input_fd, output_fd, terminal_fd;
static FILE *stream;

static int reads_and_writes(int layers)
{
    char bytes[16];
    struct stat info;
    struct winsize size;
    (void)layers;
    EXPECT(read(input_fd, bytes, sizeof(bytes)) == sizeof(bytes));
    EXPECT(fstat(output_fd, &info) == 0);
    EXPECT(write(output_fd, "x", 1) == 1);
    EXPECT(fprintf(stream, "%d %f\n", 1, 2.5) > 0 && fflush(stream) == 0);
    EXPECT(isatty(terminal_fd) == 1);
    EXPECT(ioctl(terminal_fd, TIOCGWINSZ, &size) == 0);
    EXPECT(refused(ioctl(terminal_fd, TIOCSTI, "x")) || (layers & SECCOMP) == 0);
    EXPECT(isatty(input_fd) == 0);
    EXPECT(fclose(stream) == 0);
    return 0;
}

static void *work(void *argument)
{
    size_t size = 3 << 20;
    char *memory = malloc(size);
    if (!memory)
        return NULL;
    memset(memory, 1, size);
    free(memory);
    return open("/etc/passwd", O_RDONLY) < 0 ? argument : NULL; /* it holds for threads, too */
}

static int computes(int layers)
{
    pthread_t workers[8];
    void *result;
    struct timespec now;
    char *memory = malloc(64 << 20);
    (void)layers;
    EXPECT(memory);
    memset(memory, 1, 64 << 20);
    char *grown = realloc(memory, 200 << 20);
    EXPECT(grown);
    free(grown);
    for (int i = 0; i < 8; i++)
        EXPECT(pthread_create(&workers[i], NULL, work, &now) == 0);
    for (int i = 0; i < 8; i++)
        EXPECT(pthread_join(workers[i], &result) == 0 && result == &now);
    EXPECT(clock_gettime(CLOCK_MONOTONIC, &now) == 0 && time(NULL) > 0);
    EXPECT(getrandom(&now, sizeof(now), 0) == sizeof(now));
    EXPECT(sysconf(_SC_NPROCESSORS_ONLN) > 0);
    return 0;
}

static void remove_temporary(int number)
{
    unlink(temporary);
    signal(number, SIG_DFL);
    raise(number);
}

static int dies_of_a_signal(int layers)
{
    (void)layers;
    signal(SIGTERM, remove_temporary);
    raise(SIGTERM);
    return 1;
}

START_TEST(what_a_run_needs_works)
{
    int layers = each_layer[_i];
    input_fd = open("/dev/zero", O_RDONLY);
    output_fd = open("/dev/null", O_WRONLY);
    stream = fopen("/dev/null", "w");
    terminal_fd = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(input_fd >= 0 && output_fd >= 0 && stream && terminal_fd >= 0);
    try_inside(layers, NULL, reads_and_writes);
    try_inside(layers, NULL, computes);
    try_inside(layers, output, computes);
    try_inside(layers, output, renames);
    fclose(stream);
    close(terminal_fd);
    close(output_fd);
    close(input_fd);
}
END_TEST

START_TEST(a_signal_still_removes_the_output_and_ends_the_run)
{
    int layers = each_layer[_i], status;
    if (lacks(layers))
        return;
    pid_t child = fork();
    if (child == 0) {
        enter(layers, output);
        _exit(dies_of_a_signal(layers));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    ck_assert_int_eq(access(temporary, F_OK), -1);
}
END_TEST

/* A name without a slash is in the current folder. */
START_TEST(output_in_the_current_folder)
{
    int layers = each_layer[_i];
    char before[4096];
    ck_assert_ptr_nonnull(getcwd(before, sizeof(before)));
    ck_assert_int_eq(chdir(folder), 0);
    strcpy(temporary, "out.tmp");
    try_inside(layers, strcpy(output, "out"), renames);
    snprintf(temporary, sizeof(temporary), "%s/out.tmp", folder);
    ck_assert_int_eq(chdir(before), 0);
}
END_TEST

Suite *unit_suite(void)
{
    Suite *suite = suite_create("sandbox");
    TCase *sandbox = tcase_create(sandbox_kind());
    tcase_add_checked_fixture(sandbox, set_up, tear_down);
    tcase_add_loop_test(sandbox, what_a_run_does_not_need_is_refused, 0, LAYERS);
    tcase_add_loop_test(sandbox, what_a_run_needs_works, 0, LAYERS);
    tcase_add_loop_test(sandbox, a_signal_still_removes_the_output_and_ends_the_run, 0, LAYERS);
    tcase_add_loop_test(sandbox, output_in_the_current_folder, 0, LAYERS);
    suite_add_tcase(suite, sandbox);
    return suite;
}
