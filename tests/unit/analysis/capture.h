/* A capture of device 0 written event by event as JSON, loaded and reported on. */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_CAPTURE_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_CAPTURE_H

#include "analysis/report/report.h"
#include "base/buffer.h"

/* Frames, innermost first, joined by commas: PY("f", "a.py", 3) "," CPP("at::_ops::mm::call(") */
#define PY(name, file, line) "{\"name\":\"" name "\",\"filename\":\"" file "\",\"line\":" #line "}"
#define CPP(name)            "{\"name\":\"" name "\",\"filename\":\"??\",\"line\":0}"

#define TORCH  "/venv/lib/python3.12/site-packages/torch/"
#define SCRIPT PY("<module>", "/home/u/train.py", 9)
#define CALL   PY("_call_impl", TORCH "nn/modules/module.py", 1790)
#define ENGINE                                                                                     \
    CPP("torch::autograd::Node::operator()(x)")                                                    \
    "," CPP("torch::autograd::Engine::evaluate_function(x)")

#define STACK_FORWARD                                                                              \
    CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT
#define STACK_LOSS                                                                                 \
    CPP("at::_ops::sub_Tensor::call(x)") "," PY("loss", "/home/u/loss.py", 4) "," SCRIPT
#define STACK_BACKWARD                                                                             \
    CPP("at::_ops::mm::call(x)")                                                                   \
    "," CPP("torch::autograd::generated::MmBackward0::apply(x)") "," ENGINE
#define STACK_STEP                                                                                 \
    CPP("at::_ops::zeros_like::call(x)")                                                           \
    "," PY("step", "/home/u/optimizer.py", 7) "," PY("wrapper", TORCH "optim/optimizer.py",        \
                                                     533) "," SCRIPT

struct capture {
    struct buffer events, blocks, annotations, settings;
    uint64_t time_us, total_size, next;
    unsigned pool[2];                  /* of the segment */
    uint64_t blocks_end, blocks_bytes; /* of `blocks` */
    uint64_t untold_bytes;             /* of the segment, beside what no block is active in */
    /* after capture_load() */
    struct snapshot *snapshot;
    struct timeline *timeline;
    struct site_table *sites;
};

void capture_init(struct capture *capture);
/* `frames` as above; "" for an event without frames. One microsecond after the event before. */
void capture_event(struct capture *capture, const char *action, uint64_t addr, uint64_t size,
                   const char *frames);
/* The same with further keys: ",\"category\":\"input\"". */
void capture_event_with(struct capture *capture, const char *action, uint64_t addr, uint64_t size,
                        const char *frames, const char *more);
/* An alloc at an address of its own, 1, 2, ..., which it returns. */
uint64_t capture_alloc(struct capture *capture, uint64_t size, const char *frames);
/* free_requested and free_completed at once */
void capture_free(struct capture *capture, uint64_t addr, uint64_t size, const char *frames);
/* A block of the dump; those that the trace leaves live belong here too. */
void capture_block(struct capture *capture, uint64_t addr, uint64_t size, const char *frames);
/* `stage` START or END, at the time of the latest event */
void capture_annotate(struct capture *capture, const char *stage, const char *name, int device);
void capture_setting(struct capture *capture, const char *key, const char *json_value);

/* Aborts the test on failure. */
void capture_load(struct capture *capture);
struct device_report *capture_report(struct capture *capture, size_t top);
/* NULL: the report does not have it. */
const struct finding *report_finding(const struct device_report *report, enum finding_kind kind);
/* Categories and call sites must add up to the memory that is live. */
void report_check_sums(const struct device_report *report);
/* Loads the capture. The bytes that a finding of its report would save; -1: it is not among them.
 */
int64_t capture_saving(struct capture *capture, enum finding_kind kind);
/* The category of the last allocation at `addr`: in the trace, else before it. */
enum category capture_category(struct capture *capture, uint64_t addr);
/* The same, and the reason byte. */
enum category capture_category_why(struct capture *capture, uint64_t addr, uint8_t *reason);
/* Fails, and says why the category was chosen, if the allocation has another one, or another
 * confidence in it. */
void capture_expect(struct capture *capture, uint64_t addr, enum category category,
                    enum confidence confidence);
void capture_release(struct capture *capture);

#endif
