#define _GNU_SOURCE /* nftw */

#include "base/budget.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit/base/base.h"

static char root[] = "/tmp/memsnap-unit-XXXXXX";

static void make_root(void)
{
    memcpy(root + sizeof(root) - 7, "XXXXXX", 6);
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static void remove_root(void)
{
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes root/path, its folders included. */
static void put(const char *path, const char *text)
{
    char full[256];
    snprintf(full, sizeof(full), "%s%s", root, path);
    for (char *slash = full + sizeof(root); (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(without_groups_it_is_the_machine)
{
    uint64_t whole = machine_memory(root);
    ck_assert_uint_gt(whole, 64 << 20);
    put("/proc/self/cgroup", "0::/a\n");
    ck_assert_uint_eq(machine_memory(root), whole);
    put("/sys/fs/cgroup/a/memory.max", "max\n");
    ck_assert_uint_eq(machine_memory(root), whole);
    put("/sys/fs/cgroup/a/memory.max", "18446744073709551615\n");
    ck_assert_uint_eq(machine_memory(root), whole);
}
END_TEST

START_TEST(version_2_takes_the_lowest_of_the_path)
{
    put("/proc/self/cgroup", "0::/a/b/c\n");
    put("/sys/fs/cgroup/a/b/c/memory.max", "9000000\n");
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("/sys/fs/cgroup/a/memory.max", "5000000\n");
    ck_assert_uint_eq(machine_memory(root), 5000000);
}
END_TEST

START_TEST(version_2_in_a_container_ends_at_the_mount)
{
    put("/proc/self/cgroup", "0::/not/here\n");
    put("/sys/fs/cgroup/memory.max", "7000000\n");
    ck_assert_uint_eq(machine_memory(root), 7000000);
}
END_TEST

START_TEST(version_1_reads_the_memory_line)
{
    put("/proc/self/cgroup", "12:cpu,cpuacct:/x\n4:hugetlb,memory:/a\n1:name=systemd:/y\n");
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "6000000\n");
    put("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "100\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    ck_assert_uint_eq(machine_memory(root), 6000000);
}
END_TEST

START_TEST(nonsense_is_no_limit)
{
    uint64_t whole = machine_memory(root);
    put("/proc/self/cgroup", "\n:\n::\n0:memory\nmemory\n");
    ck_assert_uint_eq(machine_memory(root), whole);
}
END_TEST

TCase *machine_tests(void)
{
    TCase *tests = tcase_create("machine");
    tcase_add_checked_fixture(tests, make_root, remove_root);
    tcase_add_test(tests, without_groups_it_is_the_machine);
    tcase_add_test(tests, version_2_takes_the_lowest_of_the_path);
    tcase_add_test(tests, version_2_in_a_container_ends_at_the_mount);
    tcase_add_test(tests, version_1_reads_the_memory_line);
    tcase_add_test(tests, nonsense_is_no_limit);
    return tests;
}
