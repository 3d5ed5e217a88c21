/* Runs a fuzz target over files, and over damaged copies of them: an ordinary test,
 * for any compiler.
 *
 *     replay-TARGET [-s BYTES] [-n COUNT] FILE...
 *
 * -s leaves out the first bytes of every file, -n says how many copies are damaged
 * each way: cut short, and with some bytes changed. The damage is the same every time.
 * What crashes the target is left in the file replay-crash, without those first bytes. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_CHANGES 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A sanitizer, if linked in, installs its own handlers and calls this function on a crash. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static uint64_t random_state = 1;
static struct {
    const char *path;
    const uint8_t *bytes;
    size_t size;
} current;

static void keep_input(void)
{
    static const char says[] = ": crashed; see replay-crash\n";
    int fd = open("replay-crash", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || !current.path || write(fd, current.bytes, current.size) < 0 ||
        write(STDERR_FILENO, current.path, strlen(current.path)) < 0 ||
        write(STDERR_FILENO, says, sizeof(says) - 1) < 0)
        return;
    close(fd);
}

static void crash(int signal_number)
{
    keep_input();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void watch_for_crashes(void)
{
    signal(SIGILL, crash);
    signal(SIGTRAP, crash);
    signal(SIGABRT, crash);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(keep_input);
    } else {
        signal(SIGSEGV, crash);
        signal(SIGBUS, crash);
        signal(SIGFPE, crash);
    }
}

static size_t random_below(size_t bound)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(random_state >> 33) % bound;
}

static void fail(const char *path)
{
    perror(path);
    exit(EXIT_FAILURE);
}

/* The whole file; NULL if there is nothing after `skip`. */
static uint8_t *read_file(const char *path, size_t skip, size_t *size)
{
    FILE *file = fopen(path, "rb");
    long end = -1;
    if (!file || fseek(file, 0, SEEK_END) != 0 || (end = ftell(file)) < 0)
        fail(path);
    if ((size_t)end <= skip) {
        fclose(file);
        return NULL;
    }
    *size = (size_t)end - skip;
    uint8_t *bytes = malloc(*size);
    if (!bytes || fseek(file, (long)skip, SEEK_SET) != 0 || fread(bytes, 1, *size, file) != *size)
        fail(path);
    fclose(file);
    return bytes;
}

/* Copies each input into an allocation of exactly its size, so that a sanitizer sees a read past
 * its end. */
static void run(const uint8_t *bytes, size_t size, size_t changes)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        fail("malloc");
    memcpy(copy, bytes, size);
    while (size > 0 && changes-- > 0)
        copy[random_below(size)] ^= (uint8_t)(1 + random_below(255));
    current.bytes = copy;
    current.size = size;
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void replay(const char *path, size_t skip, size_t count)
{
    size_t size;
    uint8_t *bytes = read_file(path, skip, &size);
    if (!bytes)
        return;
    current.path = path;
    run(bytes, size, 0);
    for (size_t i = 0; i < count; i++) {
        run(bytes, random_below(size), 0);
        run(bytes, size, 1 + random_below(MOST_CHANGES));
    }
    free(bytes);
}

int main(int argc, char **argv)
{
    size_t skip = 0, count = 50;
    for (int option; (option = getopt(argc, argv, "s:n:")) != -1;) {
        if (option == 's')
            skip = strtoul(optarg, NULL, 10);
        else if (option == 'n')
            count = strtoul(optarg, NULL, 10);
        else
            return 2;
    }
    watch_for_crashes();
    for (int i = optind; i < argc; i++)
        replay(argv[i], skip, count);
    printf("%s: %d files, %zu damaged copies of each: no crash\n", argv[0], argc - optind,
           2 * count);
    return optind < argc ? EXIT_SUCCESS : 77;
}
