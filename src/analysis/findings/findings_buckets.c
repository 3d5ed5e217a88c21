/* Findings on buckets, in which ranks exchange gradients. */
#include "analysis/findings/findings_internal.h"

#define LEAST_BUCKET 5 /* in percent of the peak; smaller findings are left out */

/* The bytes of buckets that are live at the peak. */
static bool bucket_bytes(struct findings_maker *maker, enum bucket bucket, int64_t *bytes)
{
    const struct live_set *set = maker->evidence->at_peak;
    *bytes = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct stack_facts *facts =
            site_stack_facts(set->sites, set->items[i].stack, maker->err);
        if (!facts)
            return false;
        *bytes += facts->bucket == bucket ? (int64_t)set->items[i].size : 0;
    }
    return true;
}

bool finding_of_gradient_buckets(struct findings_maker *maker)
{
    int64_t gradients = finding_live_bytes(maker->evidence->at_peak, CATEGORY_GRADIENT), buckets;
    if (!bucket_bytes(maker, BUCKET_DDP, &buckets))
        return false;
    int64_t save = buckets < gradients ? buckets : gradients;
    if (finding_share(maker, save) < LEAST_SHARE)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_GRADIENT_BUCKETS, .save_bytes = save, .at_most = true},
        finding_of_accumulation(maker->evidence->phases)
            ? "Pass gradient_as_bucket_view=True to DistributedDataParallel: the gradients are "
              "then views of the buckets. If some passes run under no_sync(), call "
              "zero_grad(set_to_none=False), too: such passes would otherwise make gradients "
              "beside the buckets."
            : "Pass gradient_as_bucket_view=True to DistributedDataParallel: the gradients are "
              "then views of the buckets.",
        "The buckets of DistributedDataParallel hold %s, a second copy of the gradients (%s).",
        finding_size(maker, buckets).text, finding_size(maker, gradients).text);
}

/* The bucket has a fixed number of elements, whatever the size of the model. */
bool finding_of_reduce_bucket(struct findings_maker *maker)
{
    int64_t bytes;
    if (!bucket_bytes(maker, BUCKET_ZERO, &bytes))
        return false;
    if (finding_share(maker, bytes) < LEAST_BUCKET)
        return true;
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_REDUCE_BUCKET, .save_bytes = bytes - bytes / 10, .at_most = true},
        "Set reduce_bucket_size of zero_optimization to a tenth of its value, which is 500,000,000 "
        "elements by default. Gradients are then reduced in smaller pieces.",
        "The buckets in which DeepSpeed reduces gradients hold %s.",
        finding_amount(maker, bytes).text);
}
