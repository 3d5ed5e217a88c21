/* Helpers shared by the parts of a suggestion's text. */
#ifndef MEMSNAP_RENDER_SUGGEST_PARTS_H
#define MEMSNAP_RENDER_SUGGEST_PARTS_H

#include "render/core/json.h"
#include "render/suggest/suggest.h"

#define SUGGEST_INDENT 2

/* Adds the name of a module, escaped. The name of the root, which is empty, is "(the model)". */
void suggest_add_name(struct buffer *out, struct text name);

/* Adds the names of the pieces first..end-1: "layer1.0", or "layer1.0 .. layer2.3". Escaped. */
void suggest_add_span(struct buffer *out, const struct problem *problem, size_t first, size_t end);

/* problem_cost_share() as text such as "12.3%". */
const char *suggest_extra(char out[UNITS_TEXT_SIZE], const struct problem *problem, int64_t time);
/* The peak of the chain without checkpoints. */
int64_t suggest_peak_without(const struct problem *problem);

#define SUGGEST_COST 64

/* "with 12.3% more compute", or "recomputing 12.3% of activations" if no times are known. */
const char *suggest_cost(char out[SUGGEST_COST], const struct problem *problem, int64_t time);
/* The same as extra_time_share or recomputed_share. */
void suggest_put_cost(struct json_writer *json, const struct problem *problem, int64_t time);

/* A remark that explains the point of comparison with this name. */
const char *suggest_comparison_remark(const char *name);

/* Caveats printed before the answer, if any apply: the layers are not those of the peak, some
 * layers are missing, or the peak does not consist of activations. */
void suggest_head_text(const struct page *page, const struct suggest_subject *subject);

/* Says that most of the peak of the layers of a snapshot is what one of them needs while it runs,
 * or a single allocation that it keeps, if that is so. */
void suggest_one_layer_text(const struct page *page, const struct suggest_subject *subject);

/* True if, as far as is known, these are all layers that are live at the peak. Then the program
 * fits if they fit. */
bool suggest_is_whole(const struct suggest_subject *subject);

/* True if torch.compile compiled the model as a whole, so that no modules of it are called. Then no
 * plan can be applied. */
bool suggest_is_compiled(const struct suggest_subject *subject);

#define SUGGEST_WHOSE 64

/* "step 1 ", before a verdict on layers that are not whole; else "". */
const char *suggest_whose(char out[SUGGEST_WHOSE], const struct suggest_subject *subject);

/* Prints the number of layers ("18 blocks") and where they come from, and what the figures are
 * based on and leave out. */
bool suggest_basis_text(const struct page *page, const struct suggest_subject *subject);

/* True if the layers of a snapshot hold hardly any of the activations at its peak. */
bool suggest_misses_peak(const struct suggest_subject *subject);
/* The same for the layers of a snapshot: subject->forward. */
bool suggest_basis_forward_text(const struct page *page, const struct suggest_subject *subject);
void suggest_put_forward(struct json_writer *json, const struct suggest_subject *subject);

/* The Python that applies a placement to the loops of subject->forward. */
bool suggest_loops_python(const struct page *page, const struct suggest_subject *subject,
                          const struct placement *placement);

/* The Python that applies a placement to the modules that lines of subject->forward call. */
bool suggest_calls_python(const struct page *page, const struct suggest_subject *subject,
                          const struct placement *placement);

typedef void suggest_call_function(void *data, struct text call);

/* Names each call of a segment to `function`. False: out of memory. */
bool suggest_each_call(const struct suggest_subject *subject, struct wrapped segment,
                       suggest_call_function *function, void *data);

/* Sections of memsnap_record.py: what every plan needs; prepare(); keep_results();
 * checkpoint_modules(), which needs prepare() and, if results of operators are kept,
 * keep_results(); checkpoint_turns(), which needs the same and checkpoint_modules();
 * find_changes(); checkpoint_calls(), which needs all of them, but keep_results() and
 * find_changes() only if results are kept; and checkpoint_calls_of_several(), which needs
 * checkpoint_calls(). */
extern const unsigned char suggest_every_code[];
extern const size_t suggest_every_code_size;
extern const unsigned char suggest_modules_code[];
extern const size_t suggest_modules_code_size;
extern const unsigned char suggest_kept_code[];
extern const size_t suggest_kept_code_size;
extern const unsigned char suggest_parts_code[];
extern const size_t suggest_parts_code_size;
extern const unsigned char suggest_turns_code[];
extern const size_t suggest_turns_code_size;
extern const unsigned char suggest_changes_code[];
extern const size_t suggest_changes_code_size;
extern const unsigned char suggest_calls_code[];
extern const size_t suggest_calls_code_size;
extern const unsigned char suggest_several_code[];
extern const size_t suggest_several_code_size;

/* kept.c: the operators whose results a segment keeps. Returns their number. */
size_t suggest_kept(const struct problem *problem, struct wrapped segment,
                    struct text names[CHAIN_OPTIONS]);
/* True if some segment keeps results. */
bool suggest_keeps_results(const struct problem *problem, const struct placement *placement);
/* Adds these operators as a Python list. False, with nothing added, if there are none. */
bool suggest_add_kept_list(struct buffer *out, const struct problem *problem,
                           struct wrapped segment);

/* Takes the place of an answer if suggest_is_compiled(): tells how to get a plan. */
bool suggest_compiled_text(const struct page *page, const struct suggest_subject *subject);

/* Prints the checkpointed segments, one a line, and the Python that applies them. */
bool suggest_placement_text(const struct page *page, const struct suggest_subject *subject,
                            const struct placement *placement);

#define NOT_LEFT_OUT SIZE_MAX

/* left_out.c: modules that run more than once in a step. Such a module is left out of parts, since
 * a checkpoint of several modules runs each of them once. */
struct left_out {
    struct text *names; /* sorted, each once */
    size_t count;
};

bool left_out_find(struct left_out *left_out, const struct problem *problem); /* false: no memory */
size_t left_out_index(const struct left_out *left_out, struct text name);     /* or NOT_LEFT_OUT */
void left_out_release(struct left_out *left_out);

/* True if every segment is one module, and none is nested or keeps results. */
bool suggest_whole_modules(const struct problem *problem, const struct placement *placement);

/* Writes "keep_operators", the operators whose results a segment keeps, if there are any. */
void suggest_put_kept(struct json_writer *json, const struct problem *problem,
                      struct wrapped segment);

/* json_apply.c: the object "apply", from which a program applies the placement without the printed
 * Python; nothing if suggest_is_compiled(). Returns false if memory ran out. */
bool suggest_put_apply(struct json_writer *json, const struct suggest_subject *subject,
                       const struct placement *placement);

/* warnings.c: the modules of a placement that need care when they run twice, in text and as the
 * array "warnings". Only recorded layers tell. Both return false if memory ran out. */
bool suggest_warnings_text(const struct page *page, const struct suggest_subject *subject,
                           const struct placement *placement);
bool suggest_put_warnings(struct json_writer *json, const struct suggest_subject *subject,
                          const struct placement *placement);

/* Prints a paragraph at SUGGEST_INDENT. The text must need no escaping. */
void suggest_say(const struct page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void suggest_title(const struct page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
