#include "render/ranks/rows.h"

static const struct row_type failure_type =
    ROW_TYPE("failed", struct ranks_failure, FIELD(struct ranks_failure, LABEL, path),
             FIELD(struct ranks_failure, LABEL, error));

static void put_spread(struct json_writer *json, const char *key, const struct rank_spread *spread)
{
    json_put_open(json, key, '{');
    json_put_integer(json, "min_bytes", spread->min_bytes);
    json_put_integer(json, "median_bytes", spread->median_bytes);
    json_put_integer(json, "max_bytes", spread->max_bytes);
    json_put_close(json, '}');
}

/* A row by its rank, or by its path if it has none. */
static void put_name(struct json_writer *json, const struct rank_row *row)
{
    if (row->summary->rank == SUMMARY_UNKNOWN)
        json_put_null(json, "rank");
    else
        json_put_integer(json, "rank", row->summary->rank);
    json_put_string(json, "path", row->summary->path);
    json_put_integer(json, "device", row->device->device);
}

static void put_group(struct json_writer *json, const struct ranks *ranks, size_t index)
{
    const struct rank_group *group = &ranks->groups[index];
    json_put_open(json, NULL, '{');
    json_put_count(json, "group", index);
    json_put_bool(json, "mixed", group->is_mixed);
    json_put_count(json, "count", group->count);
    json_put_count(json, "out_of_memory", group->ooms);
    put_spread(json, "peak", &group->peak);
    put_spread(json, "reserved", &group->reserved);
    json_put_open(json, "ranks", '[');
    for (size_t i = 0; i < group->count; i++) {
        int64_t rank = ranks->rows[group->rows[i]].summary->rank;
        if (rank == SUMMARY_UNKNOWN)
            json_put_null(json, NULL);
        else
            json_put_integer(json, NULL, rank);
    }
    json_put_close(json, ']');
    json_put_close(json, '}');
}

static void put_outlier(struct json_writer *json, const struct ranks *ranks,
                        const struct rank_outlier *outlier)
{
    const struct rank_row *row = &ranks->rows[outlier->row];
    json_put_open(json, NULL, '{');
    put_name(json, row);
    json_put_count(json, "compared_with_group", outlier->group);
    json_put_integer(json, "peak_bytes", row->device->peak_bytes);
    json_put_integer(json, "usual_bytes", outlier->usual_bytes);
    json_put_open(json, "sites", '[');
    for (size_t i = 0; i < outlier->site_count; i++) {
        const struct outlier_site *site = &outlier->sites[i];
        json_put_open(json, NULL, '{');
        json_put_string(json, "site", site->site->site);
        if (*site->site->op)
            json_put_string(json, "op", site->site->op);
        if (*site->site->category)
            json_put_string(json, "category", site->site->category);
        json_put_integer(json, "bytes", site->bytes);
        json_put_integer(json, "usual_bytes", site->usual_bytes);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
    json_put_close(json, '}');
}

static void put_missing(struct json_writer *json, const struct ranks *ranks)
{
    struct rank_gaps gaps;
    ranks_find_missing(ranks, &gaps);
    json_put_count(json, "missing_ranks", gaps.missing);
    json_put_open(json, "missing", '[');
    for (size_t i = 0; i < gaps.count; i++) {
        json_put_open(json, NULL, '{');
        json_put_integer(json, "first", gaps.items[i].first);
        json_put_integer(json, "last", gaps.items[i].last);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
    json_put_count(json, "repeated_ranks", gaps.repeated);
}

bool ranks_json(FILE *out, const struct ranks_report *report)
{
    const struct ranks *ranks = report->ranks;
    const struct field_context context = {0};
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", RANKS_SCHEMA);
    json_put_count(&json, "captures", report->captures);
    json_put_rows(&json, &rank_type, ranks->rows, ranks->row_count, &context);
    put_spread(&json, "spread", &ranks->peak);
    put_spread(&json, "reserved_spread", &ranks->reserved);
    put_missing(&json, ranks);
    json_put_open(&json, "groups", '[');
    for (size_t i = 0; i < ranks->group_count; i++)
        put_group(&json, ranks, i);
    json_put_close(&json, ']');
    json_put_open(&json, "outliers", '[');
    for (size_t i = 0; i < ranks->outlier_count; i++)
        put_outlier(&json, ranks, &ranks->outliers[i]);
    json_put_close(&json, ']');
    json_put_rows(&json, &failure_type, report->failures, report->failure_count, &context);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
