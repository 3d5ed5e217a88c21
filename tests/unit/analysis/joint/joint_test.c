/* The join of a snapshot with a profiler trace as torch writes it today, with kernels. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/joint/sites.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define ADDR  UINT64_C(0x7f0000000000)
#define BLOCK UINT64_C(512)

static struct capture capture;
static struct buffer events; /* of the trace */
static struct profiled *profiled;
static struct joint joint;
static struct error err;

static void create(void)
{
    capture_init(&capture);
    events = (struct buffer)BUFFER_INIT;
    profiled = NULL;
    joint = (struct joint){0};
}

static void destroy(void)
{
    joint_release(&joint);
    profiled_destroy(profiled);
    capture_release(&capture);
    buffer_release(&events);
}

static void add(const char *event)
{
    if (events.size > 0)
        buffer_putc(&events, ',');
    buffer_puts(&events, event);
}

/* A complete event; `time_us` is since baseTimeNanoseconds. */
static void range(const char *category, const char *name, int tid, double time_us, double us,
                  const char *arguments)
{
    struct buffer event = BUFFER_INIT;
    buffer_printf(&event,
                  "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":7,\"tid\":%d,"
                  "\"ts\":%.3f,\"dur\":%.3f,\"args\":{%s}}",
                  category, name, tid, time_us, us, arguments);
    add(event.bytes);
    buffer_release(&event);
}

static void memory(double time_us, uint64_t addr, uint64_t bytes)
{
    struct buffer event = BUFFER_INIT;
    buffer_printf(&event,
                  "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\","
                  "\"pid\":7,\"tid\":7,\"ts\":%.3f,\"args\":{\"Total Reserved\":2097152,"
                  "\"Total Allocated\":512,\"Bytes\":%" PRIu64 ",\"Addr\":%" PRIu64
                  ",\"Device Id\":0,\"Device Type\":1,\"Ev Idx\":1}}",
                  time_us, bytes, addr);
    add(event.bytes);
    buffer_release(&event);
}

/* The launch in an operator's thread, the arrow, and the kernel on the device. */
static void kernel(const char *category, const char *launch, int correlation, double time_us,
                   double us)
{
    struct buffer text = BUFFER_INIT;
    buffer_printf(&text, "\"External id\":3,\"cbid\":211,\"correlation\":%d", correlation);
    range(strcmp(launch, "cuLaunchKernel") == 0 ? "cuda_driver" : "cuda_runtime", launch, 7,
          time_us, 2, text.bytes);
    buffer_clear(&text);
    buffer_printf(&text,
                  "{\"ph\":\"s\",\"id\":%d,\"pid\":7,\"tid\":7,\"ts\":%.3f,\"cat\":\"ac2g\","
                  "\"name\":\"ac2g\"},{\"ph\":\"f\",\"id\":%d,\"pid\":0,\"tid\":7,\"ts\":%.3f,"
                  "\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\"}",
                  correlation, time_us, correlation, time_us + 500);
    add(text.bytes);
    buffer_clear(&text);
    buffer_printf(&text,
                  "\"External id\":3,\"queued\":0,\"device\":0,\"context\":1,\"stream\":7,"
                  "\"correlation\":%d,\"grid\":[1,1,1],\"est. achieved occupancy %%\":0",
                  correlation);
    range(category, "void at::native::vectorized_elementwise_kernel<4>", 7, time_us + 500, us,
          text.bytes);
    buffer_release(&text);
}

static bool make(void)
{
    struct buffer text = BUFFER_INIT;
    struct input input;
    buffer_printf(&text,
                  "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"GPU\"}],"
                  "\"baseTimeNanoseconds\":0,\"traceEvents\":[%s]}",
                  events.bytes ? events.bytes : "");
    ck_assert(input_from_memory(&input, text.bytes, text.size, 16 << 20, &err));
    profiled = profiled_load_input(&input, &err);
    ck_assert_msg(profiled != NULL, "%s", err.text);
    buffer_release(&text);
    capture_load(&capture);
    return joint_make(&joint, profiled, capture.timeline, &err);
}

/* Eight allocations in operators of ten microseconds; the snapshot's clock is 250 us ahead. */
static void eight(void)
{
    for (uint64_t i = 0; i < 8; i++) {
        double time_us = (double)capture.time_us + 1 - 250;
        capture_event(&capture, "alloc", ADDR + i * BLOCK, 500, STACK_FORWARD);
        range("cpu_op", "aten::mm", 7, time_us - 0.5, 10,
              "\"External id\":3,\"Sequence number\":5");
        memory(time_us, ADDR + i * BLOCK, BLOCK);
        capture.time_us += 20;
    }
}

START_TEST(matches)
{
    eight();
    ck_assert_msg(make(), "%s", err.text);
    ck_assert_uint_eq(joint.profiled_count, 8);
    ck_assert_uint_eq(joint.inside, 8);
    ck_assert_uint_eq(joint.matched, 8);
    ck_assert(joint.by_time);
    ck_assert_int_eq(joint.offset_us, 250);
    ck_assert_int_eq(joint.spread_us, 0);
    for (uint32_t i = 0; i < 8; i++)
        ck_assert_uint_eq(joint.allocation[i], i);
}
END_TEST

/* The trace covers the end of the snapshot, whose allocations have the addresses of its beginning
 * at other times. */
START_TEST(finds_the_part)
{
    for (uint64_t i = 0; i < 8; i++) {
        capture_event(&capture, "alloc", ADDR + i * BLOCK, 500, STACK_FORWARD);
        capture.time_us += 31 * i;
    }
    for (uint64_t i = 0; i < 8; i++)
        capture_free(&capture, ADDR + i * BLOCK, 500, STACK_FORWARD);
    eight();
    ck_assert_msg(make(), "%s", err.text);
    ck_assert_uint_eq(joint.matched, 8);
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(joint.allocation[i], JOINT_NONE);
        ck_assert_uint_eq(joint.allocation[8 + i], i);
    }
}
END_TEST

START_TEST(refuses_another_run)
{
    eight();
    for (uint64_t i = 0; i < 32; i++)
        memory(3000 + (double)i, ADDR + (1000 + i) * BLOCK, BLOCK);
    for (uint64_t i = 0; i < 32; i++)
        capture_event(&capture, "alloc", ADDR + (5000 + i) * BLOCK, 500, STACK_FORWARD);
    ck_assert(!make());
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    ck_assert(strstr(err.text, "the profiler trace is of another run") != NULL);
}
END_TEST

/* The same addresses, but at other intervals. */
START_TEST(refuses_other_times)
{
    for (uint64_t i = 0; i < 8; i++) {
        capture_event(&capture, "alloc", ADDR + i * BLOCK, 500, STACK_FORWARD);
        capture.time_us += 1000;
        memory(2000 + 5000 * (double)(i * i), ADDR + i * BLOCK, BLOCK);
    }
    ck_assert(!make());
    ck_assert(strstr(err.text, "but not their times") != NULL);
}
END_TEST

/* The trace has memory of the CPU only. */
START_TEST(no_such_device)
{
    capture_event(&capture, "alloc", ADDR, 500, STACK_FORWARD);
    add("{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"ts\":1,\"args\":"
        "{\"Bytes\":8,\"Addr\":512,\"Device Id\":-1,\"Device Type\":0}}");
    ck_assert_msg(make(), "%s", err.text);
    ck_assert_uint_eq(joint.profiled_count, 0);
    ck_assert_uint_eq(joint.matched, 0);
    ck_assert_uint_eq(joint.allocation[0], JOINT_NONE);
}
END_TEST

static const struct site_joint *only_site(struct device_report **report, uint64_t *live)
{
    *report = capture_report(&capture, 0);
    ck_assert_msg(joint_sites(*report, &joint, capture.sites, live, &err), "%s", err.text);
    ck_assert_uint_eq((*report)->site_count, 1);
    return &(*report)->sites[0].joint;
}

/* Kernels belong to the operators in which they were launched, whenever they ran: three kernels
 * and copies of the first operator, two kernels of a graph that the second launched, and one
 * that was launched outside of all operators. */
START_TEST(kernels)
{
    struct device_report *report;
    uint64_t live;
    eight();
    double first = 1001 - 250, second = first + 21;
    kernel("kernel", "cudaLaunchKernel", 11, first + 1, 40);
    kernel("gpu_memcpy", "cudaMemcpyAsync", 12, first + 2, 3.5);
    kernel("gpu_memset", "cuLaunchKernel", 13, first + 3, 0.5);
    kernel("kernel", "cudaGraphLaunch", 14, second + 1, 100);
    range("kernel", "second_of_the_graph", 7, 5000, 200, "\"correlation\":14");
    kernel("kernel", "cudaLaunchKernelExC", 15, first + 12, 100000);
    range("gpu_user_annotation", "forward", 7, first, 900, "\"External id\":3");
    range("cuda_sync", "Stream Sync", 7, first, 900, "\"correlation\":11");
    range("overhead", "Activity Buffer Request", 7, first, 900, "");
    ck_assert_msg(make(), "%s", err.text);
    ck_assert(profiled->has_kernels);
    const struct site_joint *site = only_site(&report, &live);
    ck_assert_uint_eq(live, 8);
    ck_assert(site->is_joined);
    ck_assert_uint_eq(site->matched, 8);
    ck_assert_uint_eq(site->kernels, 5);
    ck_assert_int_eq(site->kernel_us, 44 + 300);
    ck_assert_int_eq(site->host_us, -1);
    device_report_destroy(report);
}
END_TEST

/* Two allocations of one operator count its time once. */
START_TEST(host_times)
{
    struct device_report *report;
    uint64_t live;
    eight();
    double time_us = (double)capture.time_us + 1 - 250;
    for (uint64_t i = 8; i < 10; i++) {
        capture_event(&capture, "alloc", ADDR + i * BLOCK, 500, STACK_FORWARD);
        memory(time_us + (double)(i - 8), ADDR + i * BLOCK, BLOCK);
    }
    range("cpu_op", "aten::mm", 7, time_us - 0.5, 30, "");
    ck_assert_msg(make(), "%s", err.text);
    const struct site_joint *site = only_site(&report, &live);
    ck_assert_uint_eq(site->matched, 10);
    ck_assert_int_eq(site->host_us, 8 * 10 + 30);
    ck_assert_int_eq(site->kernel_us, -1);
    device_report_destroy(report);
}
END_TEST

TCase *joint_tests(void)
{
    TCase *tests = tcase_create("joint");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, matches);
    tcase_add_test(tests, finds_the_part);
    tcase_add_test(tests, refuses_another_run);
    tcase_add_test(tests, refuses_other_times);
    tcase_add_test(tests, no_such_device);
    tcase_add_test(tests, kernels);
    tcase_add_test(tests, host_times);
    return tests;
}
