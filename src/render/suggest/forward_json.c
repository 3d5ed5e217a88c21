/* The layers that were inferred from an allocator snapshot, as JSON. */
#include "render/core/rows.h"
#include "render/suggest/parts.h"

/* A layer; context->user is the struct suggest_subject. */
static const struct suggest_subject *subject_of(const struct field_context *context)
{
    return context->user;
}

static void put_names(struct json_writer *json, const void *data,
                      const struct field_context *context)
{
    const struct chain_element *element = data;
    json_put_open(json, "parts", '[');
    for (uint32_t k = element->first_part; k < element->end_part; k++) {
        struct text name = subject_of(context)->problem->modules[k];
        json_put_bytes(json, NULL, name.bytes, name.size);
    }
    json_put_close(json, ']');
}

static struct value first_event(const void *data, const struct field_context *context)
{
    const struct forward_chain *chain = subject_of(context)->forward;
    return value_count(chain->first_event +
                       (((const struct chain_element *)data)->first_item - chain->first));
}

static bool is_timed(const void *row, const struct field_context *context)
{
    (void)row;
    return subject_of(context)->problem->times_given || subject_of(context)->forward->timed;
}

static struct value forward_time(const void *data, const struct field_context *context)
{
    const struct suggest_subject *subject = subject_of(context);
    const struct chain_element *element = data;
    return value_integer(subject->problem->times_given
                             ? subject->problem->chain.forward[element - subject->forward->elements]
                             : element->forward_ns);
}

#define ROW struct chain_element
static const struct row_type element_type = ROW_TYPE(
    "elements", ROW, FIELD_JSON("parts", put_names), FIELD_CALL(NUMBER, "first_event", first_event),
    FIELD_AS(ROW, COUNT, "activations", allocations), FIELD(ROW, BYTES, activation_bytes),
    FIELD(ROW, BYTES, output_bytes), FIELD(ROW, NAME, output_from, .name = output_evidence_name),
    FIELD(ROW, FLAG, output_passes), FIELD(ROW, BYTES, forward_extra_bytes),
    FIELD(ROW, BYTES, backward_extra_bytes),
    FIELD_CALL(NUMBER, "forward_ns", forward_time, .present = is_timed),
    FIELD(ROW, FLAG, checkpointed));
#undef ROW

static bool has_backward_time(const void *row, const struct field_context *context)
{
    (void)row;
    const struct suggest_subject *subject = subject_of(context);
    return subject->problem->times_given
               ? subject->problem->backward_timed
               : subject->forward->timed && subject->forward->backward_ns > 0;
}

static struct value source(const void *row, const struct field_context *context)
{
    (void)row, (void)context;
    return value_word("allocator-snapshot");
}

static struct value device(const void *row, const struct field_context *context)
{
    (void)row;
    return value_count(subject_of(context)->device);
}

static struct value backward_event(const void *data, const struct field_context *context)
{
    const struct forward_chain *chain = data;
    (void)context;
    return value_count(chain->first_event + (chain->backward - chain->first));
}

static struct value end_event(const void *data, const struct field_context *context)
{
    const struct forward_chain *chain = data;
    (void)context;
    return value_count(chain->first_event + (chain->end - chain->first));
}

static struct value backward_time(const void *row, const struct field_context *context)
{
    (void)row;
    const struct suggest_subject *subject = subject_of(context);
    return value_integer(subject->problem->times_given ? subject->problem->backward_time
                                                       : subject->forward->backward_ns);
}

static struct value compiled(const void *row, const struct field_context *context)
{
    (void)row;
    return value_flag(suggest_is_compiled(subject_of(context)));
}

#define ROW struct forward_chain
static const struct row_type chain_type = ROW_TYPE(
    "chain", ROW, FIELD_CALL(WORD, "source", source), FIELD_CALL(NUMBER, "device", device),
    FIELD(ROW, NUMBER, step, IF(ROW, has_step)), FIELD(ROW, FLAG, at_peak),
    FIELD(ROW, FLAG, unfinished), FIELD_AS(ROW, BYTES, "trace_peak_bytes", peak_bytes),
    FIELD_AS(ROW, NAME, "trace_peak_phase", peak_phase, .name = phase_name),
    FIELD_AS(ROW, NUMBER, "trace_peak_step", peak_step, IF(ROW, has_peak_step)),
    FIELD(ROW, NUMBER, first_event), FIELD_CALL(NUMBER, "backward_event", backward_event),
    FIELD_CALL(NUMBER, "end_event", end_event), FIELD(ROW, BYTES, activation_bytes),
    FIELD(ROW, BYTES, peak_category_bytes), FIELD(ROW, BYTES, peak_chain_bytes),
    FIELD(ROW, TEXT, others_at, IF(ROW, others_at_bytes)), FIELD(ROW, BYTES, others_at_bytes),
    FIELD(ROW, BYTES, layer_results_bytes),
    FIELD(ROW, TEXT, layer_results_at, IF(ROW, layer_results_bytes)),
    FIELD_AS(ROW, BYTES, "elsewhere_peak_bytes", elsewhere.bytes),
    FIELD_AS(ROW, NUMBER, "elsewhere_peak_event", elsewhere.event, IF(ROW, elsewhere.bytes)),
    FIELD_AS(ROW, TEXT, "elsewhere_at", elsewhere.at, IF(ROW, elsewhere.bytes)),
    FIELD_AS(ROW, BYTES, "unused_peak_bytes", unused.bytes),
    FIELD_AS(ROW, NUMBER, "unused_peak_event", unused.event, IF(ROW, unused.bytes)),
    FIELD_AS(ROW, TEXT, "unused_at", unused.at, IF(ROW, unused.bytes)),
    FIELD_AS(ROW, FLAG, "unused_has_backward", unused.has_backward, IF(ROW, unused.bytes)),
    FIELD(ROW, BYTES, recomputed_bytes), FIELD_CALL(FLAG, "compiled", compiled),
    FIELD(ROW, COUNT, other_steps), FIELD(ROW, COUNT, unlike_steps),
    FIELD_CALL(NUMBER, "backward_ns", backward_time, .present = has_backward_time));
#undef ROW

void suggest_put_forward(struct json_writer *json, const struct suggest_subject *subject)
{
    const struct forward_chain *chain = subject->forward;
    const struct field_context context = {.user = subject};
    json_put_fields(json, &chain_type, chain, &context);
    json_put_rows(json, &element_type, chain->elements, chain->count, &context);
}
