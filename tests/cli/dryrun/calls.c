/* calls LIBRARY GROUP: calls entry points of the stand-in for CUDA, and checks their answers. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *find(const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "there is no %s\n", name);
        exit(1);
    }
    return found;
}

#define CALL(type, name, ...) ((int(*) type)find(name))(__VA_ARGS__)

static void expect(const char *what, long long got, long long expected)
{
    if (got == expected)
        return;
    fprintf(stderr, "%s: %lld instead of %lld\n", what, got, expected);
    exit(1);
}

static void *take(size_t size)
{
    void *address = NULL;
    expect("cudaMalloc", CALL((void **, size_t), "cudaMalloc", &address, size), 0);
    return address;
}

enum { TO_DEVICE = 1, TO_HOST = 2, INT32 = 2, INT64 = 4, SUM = 0, MAX = 2 };

static void put(void *to, const void *from, size_t size)
{
    expect("cudaMemcpy",
           CALL((void *, const void *, size_t, int), "cudaMemcpy", to, from, size, TO_DEVICE), 0);
}

static void get(void *to, const void *from, size_t size)
{
    expect("cudaMemcpy",
           CALL((void *, const void *, size_t, int), "cudaMemcpy", to, from, size, TO_HOST), 0);
}

struct unique_id {
    char bytes[128];
};

static void test_nccl(void)
{
    struct unique_id id;
    void *world = NULL, *part = NULL, *told = NULL, *none = &id;
    int32_t seven = 7, values[3] = {0};
    int64_t nine = 9;
    int number = -1;
    char *here = take(4096), *there = take(4096);
    expect("id", CALL((struct unique_id *), "ncclGetUniqueId", &id), 0);
    expect("init",
           CALL((void **, int, struct unique_id, int), "ncclCommInitRank", &world, 3, id, 2), 0);
    CALL((void *, int *), "ncclCommCount", world, &number);
    expect("count", number, 3);
    CALL((void *, int *), "ncclCommUserRank", world, &number);
    expect("rank", number, 2);
    CALL((void *, int, int, void **, void *), "ncclCommSplit", world, -1, 0, &none, NULL);
    expect("no color", none != NULL, 0);
    expect("rank of none", CALL((void *, int *), "ncclCommUserRank", none, &number), 4);
    CALL((void *, int, int, void **, void *), "ncclCommSplit", world, 1, 1, &part, NULL);
    expect("color", part != NULL, 1);
    ((void (*)(int, int))find("memsnap_dryrun_color"))(4097 + 7, 2);
    CALL((void *, int, int, void **, void *), "ncclCommSplit", world, 4097 + 7, 1, &told, NULL);
    CALL((void *, int *), "ncclCommCount", told, &number);
    expect("ranks of a color that was told", number, 2);
    CALL((void *, int *), "ncclCommCount", part, &number);
    expect("ranks of another color", number, 0);
    expect("end of a told part", CALL((void *), "ncclCommDestroy", told), 0);

    put(here, &seven, sizeof(seven));
    CALL((void *, void *, size_t, int, int, void *, void *), "ncclAllReduce", here, there, 1, INT32,
         SUM, world, NULL);
    get(values, there, sizeof(seven));
    expect("sum of equal values", values[0], 21);
    CALL((void *, void *, size_t, int, int, void *, void *), "ncclAllReduce", here, there, 1, INT32,
         MAX, world, NULL);
    get(values, there, sizeof(seven));
    expect("largest of equal values", values[0], 7);
    CALL((void *, void *, size_t, int, void *, void *), "ncclAllGather", here, there, 1, INT32,
         world, NULL);
    get(values, there, sizeof(values));
    expect("gathered", values[0] == 7 && values[1] == 7 && values[2] == 7, 1);
    CALL((void), "ncclGroupStart");
    for (int root = 0; root < 3; root++) {
        char *to = there + 64 + 4 * root;
        CALL((void *, void *, size_t, int, int, void *, void *), "ncclBroadcast",
             root == 2 ? here : to, to, 1, INT32, root, world, NULL);
    }
    CALL((void), "ncclGroupEnd");
    for (int root = 0; root < 3; root++) {
        get(&number, there + 64 + 4 * root, sizeof(number));
        expect("broadcast of each rank", number, 7);
    }
    CALL((void *, void *, size_t, int, int, void *, void *), "ncclAllReduce", here, there, 1, INT32,
         SUM, part, NULL);
    get(values, there, sizeof(seven));
    expect("sum of ranks that nobody counted", values[0], 0);

    put(here, &nine, sizeof(nine));
    CALL((void *, size_t, int, int, void *, void *), "ncclSend", here, 1, INT64, 0, world, NULL);
    CALL((void *, size_t, int, int, void *, void *), "ncclRecv", there, 1, INT64, 0, world, NULL);
    nine = 0;
    get(&nine, there, sizeof(nine));
    expect("received what was sent to the same rank", nine, 9);
    CALL((void *, size_t, int, int, void *, void *), "ncclRecv", there, 1, INT64, 1, world, NULL);
    get(&nine, there, sizeof(nine));
    expect("received what is not known", nine, 0);
    expect("end of a part", CALL((void *), "ncclCommDestroy", part), 0);
    expect("end", CALL((void *), "ncclCommDestroy", world), 0);
}

/* Sizes of workspaces, by the formulas that the manual page names. */
static void test_solver(void)
{
    int size = 0, info = -1, plan = 0;
    size_t bytes = 0, on_host = 1;
    int64_t smooth[2] = {10, 64}, prime[1] = {67};
    CALL((void *, int, int, int, void *, int, void *, int *), "cusolverDnSsyevd_bufferSize", NULL,
         1, 0, 100, NULL, 100, NULL, &size);
    expect("syevd", size, 1 + 6 * 100 + 2 * 100 * 100);
    CALL((void *, int, int, void *, int, int *), "cusolverDnZgeqrf_bufferSize", NULL, 30, 20, NULL,
         30, &size);
    expect("geqrf", size, 20 * 64);
    CALL((void *, int, int, int *), "cusolverDnDgesvd_bufferSize", NULL, 100000, 100000, &size);
    expect("gesvd", size, 3 * 100000 + 200000 * 64);
    CALL((void *, int, int, int, void *, int, void *, void *, int, void *, int, int *, void *, int),
         "cusolverDnSgesvdjBatched_bufferSize", NULL, 1, 32, 32, NULL, 32, NULL, NULL, 32, NULL, 32,
         &size, NULL, 1 << 30);
    expect("a size that an int does not hold", size, INT32_MAX);
    CALL((void *, void *, int, int64_t, int, void *, int64_t, int, size_t *, size_t *),
         "cusolverDnXpotrf_bufferSize", NULL, NULL, 0, (int64_t)50, 1, NULL, (int64_t)50, 1, &bytes,
         &on_host);
    expect("potrf", (long long)bytes, 50 * 64 * 8);
    expect("potrf on the host", (long long)on_host, 0);
    CALL((int, int, int64_t *, void *, int64_t, int64_t, int, void *, int64_t, int64_t, int,
          int64_t, size_t *),
         "cufftXtMakePlanMany", plan, 2, smooth, NULL, (int64_t)1, (int64_t)1, 0, NULL, (int64_t)1,
         (int64_t)1, 4, (int64_t)3, &bytes);
    expect("transform of real data", (long long)bytes, 3 * 10 * 33 * 8);
    CALL((int, int, int64_t *, void *, int64_t, int64_t, int, void *, int64_t, int64_t, int,
          int64_t, size_t *),
         "cufftXtMakePlanMany", plan, 1, prime, NULL, (int64_t)1, (int64_t)1, 5, NULL, (int64_t)1,
         (int64_t)1, 5, (int64_t)1, &bytes);
    expect("transform of a prime length", (long long)bytes, 67 * 16 * 8);
    CALL((void *, int, int, void *, int, void *, int *, int), "cublasSgeqrfBatched", NULL, 4, 4,
         NULL, 4, NULL, &info, 2);
    expect("status of a batch", info, 0);
}

static void test_kernel(void)
{
    enum { THREADS = 0, REGISTERS = 4, SHARED_BYTES = 1 };
    int value = -1;
    CALL((int *, int, void *, int), "cuKernelGetAttribute", &value, THREADS, NULL, 0);
    expect("threads of a block", value, 1024);
    CALL((int *, int, void *, int), "cuKernelGetAttribute", &value, REGISTERS, NULL, 0);
    expect("registers of a thread", value, 32);
    CALL((int *, int, void *), "cuFuncGetAttribute", &value, SHARED_BYTES, NULL);
    expect("shared memory", value, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(void);
    } groups[] = {{"nccl", test_nccl}, {"solver", test_solver}, {"kernel", test_kernel}};
    if (argc != 3 || !(library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))) {
        fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "usage: calls LIBRARY GROUP");
        return 1;
    }
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
        if (strcmp(groups[i].name, argv[2]) == 0) {
            groups[i].test();
            return 0;
        }
    fprintf(stderr, "there is no group %s\n", argv[2]);
    return 1;
}
