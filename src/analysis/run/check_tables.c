/* Compares the tables of FSDP memory with themselves and with the statistics. */
#include <string.h>

#include "analysis/run/tables.h"

bool run_compare(struct run_report *report, const struct run_inconsistency *found, bool holds,
                 struct error *err)
{
    report->checks_made[found->check]++;
    if (holds)
        return true;
    report->inconsistency_total++;
    if (report->inconsistency_count == RUN_INCONSISTENCIES_MOST)
        return true;
    return vec_push(report->inconsistencies, report->inconsistency_count,
                    report->inconsistency_capacity, report->run->budget, err, *found);
}

/* Each cell is rounded on its own. */
static bool check_sum(struct run_report *report, const struct run_table *table,
                      const struct run_table_row *row, struct run_inconsistency *found,
                      struct error *err)
{
    __int128 sum = 0, slack = row->slack;
    for (size_t i = 0; i < RUN_KINDS; i++)
        if (i != RUN_TOTAL && row->bytes[i] != RUN_NO_BYTES) {
            sum += row->bytes[i];
            slack += row->slack;
        }
    __int128 difference = sum - row->bytes[RUN_TOTAL];
    found->check = RUN_CHECK_SUM;
    found->expected = sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
    found->found = row->bytes[RUN_TOTAL];
    found->expected_file = table->file;
    return run_compare(report, found, difference <= slack && -difference <= slack, err);
}

static const struct run_row *find_row(const struct run_report *report, const struct run_key *key)
{
    size_t low = 0, high = report->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct run_row *row = &report->rows[middle];
        const struct run_key found = {row->rank, row->function, row->iteration, key->side};
        int order = run_key_compare(&found, key);
        if (order == 0)
            return row;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* The tracker sees less than the allocator: no workspaces of libraries. */
static bool check_tracked(struct run_report *report, const struct run_table *table,
                          struct run_inconsistency *found, struct error *err)
{
    const struct memory_run *run = report->run;
    const struct run_table_row *peak = run_table_peak(run, table);
    const struct run_row *row = find_row(report, &table->key);
    int64_t stated = row ? row->numbers[RUN_END][RUN_ACTIVE_PEAK] : RUN_ABSENT;
    if (!peak || stated == RUN_ABSENT || peak->slack > stated ||
        !text_starts(symbols_text(run->symbols, peak->device), "cuda"))
        return true;
    found->check = RUN_CHECK_TRACKED;
    found->expected = stated;
    found->found = peak->bytes[RUN_TOTAL];
    found->expected_file = row->points[RUN_END]->file;
    return run_compare(report, found, found->found - peak->slack <= stated, err);
}

bool run_check_tables(struct run_report *report, struct error *err)
{
    const struct memory_run *run = report->run;
    struct run_inconsistency found = {.check = RUN_CHECK_SUM};
    static const char name[] = "Total";
    if (!symbols_string(run->symbols, name, strlen(name), &found.name, err))
        return false;
    for (size_t i = 0; i < run->table_count; i++) {
        const struct run_table *table = &run->tables[i];
        found.key = table->key;
        found.found_file = table->file;
        for (size_t k = 0; k < table->count; k++)
            if (!check_sum(report, table, &run->rows[table->first + k], &found, err))
                return false;
        if (!check_tracked(report, table, &found, err))
            return false;
    }
    return true;
}
