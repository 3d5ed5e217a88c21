/* Reads native frames: they name the operator, the node of autograd or the library that allocates.
 */
#include <string.h>

#include "analysis/code/stack_reader.h"

/* Sets *name to the string id of an operator's or node's name. */
static bool native_name(struct site_table *table, frame_id id, struct frame_facts *facts,
                        string_id *name, struct error *err)
{
    if (facts->name == STRING_EMPTY) {
        char text[NATIVE_NAME_SIZE];
        struct frame frame = symbols_frame_at(table->symbols, id);
        native_classify(symbols_text(table->symbols, frame.name), text);
        if (!symbols_string(table->symbols, text, strlen(text), &facts->name, err))
            return false;
    }
    *name = facts->name;
    return true;
}

/* Code of the user's that autograd runs, without a backward() in between, is a hook. */
static void enter_backward(struct stack_reader *reader)
{
    struct site *site = &reader->facts.site;
    reader->facts.by_hook |=
        !site->has_backward && site->user_frame != NO_FRAME && reader->role == ROLE_NONE;
    site->has_backward = true;
}

/* Reads an operator. The innermost one names what is allocated; those further out may show that it
 * is their result: one_hot() makes zeros, and then sets the ones. */
static bool read_operator(struct site_table *table, struct stack_reader *reader, frame_id id,
                          struct frame_facts *facts, struct error *err)
{
    struct site *site = &reader->facts.site;
    string_id name;
    if (reader->op_closed)
        return true;
    if (site->op == STRING_EMPTY)
        return native_name(table, id, facts, &site->op, err);
    if (reader->facts.fills_result ||
        !operator_makes_storage(symbols_text(table->symbols, site->op)))
        return true;
    if (!native_name(table, id, facts, &name, err))
        return false;
    reader->facts.fills_result = operator_computes(symbols_text(table->symbols, name));
    return true;
}

static bool evaluates_node(const struct site_table *table, frame_id id)
{
    struct frame frame = symbols_frame_at(table->symbols, id);
    struct text name = symbols_text(table->symbols, frame.name);
    return text_starts(name, "torch::autograd::Engine::evaluate_function") ||
           text_starts(name, "torch::autograd::Node::operator()");
}

bool read_native_frame(struct site_table *table, struct stack_reader *reader, frame_id id,
                       struct frame_facts *facts, struct error *err)
{
    struct site *site = &reader->facts.site;
    bool no_python = site->any_python_frame == NO_FRAME;
    switch ((enum native_role)facts->role) {
    case NATIVE_TO_DEVICE:
    case NATIVE_OPERATOR:
        reader->facts.to_device = reader->facts.to_device || facts->role == NATIVE_TO_DEVICE;
        reader->facts.in_operator = true;
        return read_operator(table, reader, id, facts, err);
    case NATIVE_FACTORY:
        reader->facts.in_operator = true;
        return site->op != STRING_EMPTY || reader->op_closed ||
               native_name(table, id, facts, &reader->factory, err);
    case NATIVE_NODE: {
        string_id name;
        enter_backward(reader);
        reader->facts.evaluates = true;
        if (!native_name(table, id, facts, &name, err))
            return false;
        if (site->node == STRING_EMPTY)
            site->node = name;
        if (text_equals(symbols_text(table->symbols, name), "AccumulateGrad"))
            reader->facts.accumulates_grad = true;
        return true;
    }
    case NATIVE_ENGINE:
        enter_backward(reader);
        reader->facts.evaluates |= evaluates_node(table, id);
        return true;
    case NATIVE_AUTOCAST:
        reader->facts.is_autocast = true;
        return true;
    case NATIVE_AUTOCAST_END:
        reader->facts.ends_autocast = true;
        return true;
    case NATIVE_SAVED_RELEASE:
        reader->facts.releases_saved = true;
        reader->facts.releases_graph = true;
        return true;
    case NATIVE_GRAPH_RELEASE:
        reader->facts.releases_graph = true;
        return true;
    case NATIVE_COMMUNICATION:
        reader->facts.communicates = reader->facts.communicates || no_python;
        return reader->collective != STRING_EMPTY ||
               native_name(table, id, facts, &reader->collective, err);
    case NATIVE_UNFUSED:
        reader->facts.attention = ATTENTION_UNFUSED;
        return true;
    case NATIVE_WORKSPACE:
        reader->facts.is_workspace = reader->facts.is_workspace || no_python;
        return true;
    case NATIVE_PLAIN:
        break;
    }
    return true;
}
