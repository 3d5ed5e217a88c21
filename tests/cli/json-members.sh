#!/bin/sh
# Every member of the JSON that memsnap writes, here or in a golden file, is named in a manual page.
. "${srcdir:=.}/tests/cli/lib.sh"

if [ -z "${PYTHON3-}" ]; then
    echo 'skipped: there is no Python'
    exit 77
fi
mkdir written
count=0

# written COMMAND ARGUMENT...: keeps the JSON that it writes.
written() {
    count=$((count + 1))
    run "$@" --format json
    check 'writes JSON, with status 0 or 1' [ "$status" -le 1 ]
    cp .run/out "written/$count"
}

for name in history-off leak oom oom-other-process oom-fragmented pending-frees pinned two-devices ring-overflow \
    kept-gradients joined cache expandable recorded/generate recorded/oom-graph-pools recorded/two-streams; do
    for capture in samples/"$name".pickle*; do
        written analyze --verbose "$capture"
    done
done
for file in samples/training.pt.trace.json.gz samples/training.timeline.json.gz samples/training.stats.json.gz \
    samples/training.averages.txt samples/training.summary.log samples/jax.pprof.gz samples/memprofiler samples/ddp \
    samples/decoder.layers.json.gz samples/fsdp.layers.pickle; do
    written analyze "$file"
done
for capture in samples/newest/*.pickle.gz; do
    written analyze "$capture"
done
written analyze --allocations --at end samples/leak.pickle.gz
for by in category metadata module pool stream phase annotation compile; do
    written analyze --by "$by" samples/joined.pickle.gz
done
written analyze --with-trace samples/joined.pt.trace.json.gz samples/joined.pickle.gz
written analyze --range 0:135 samples/pinned.pickle.gz
written backends
written check --max-peak 1 --max-reserved 1 --max-fragmentation 1% --max-growth 0 --max-category activation=1 \
    --max-site '*=1' --no-oom --no-leaks samples/leak.pickle.gz samples/history-off.pickle
written check --baseline samples/leak.pickle.gz --max-increase 2% samples/train-loop.pickle.gz
written check --max-memory-after-suggest 4=8GiB samples/decoder.layers.json.gz
written check --max-reserved 1 --alloc-conf max_split_size_mb:64 samples/train-loop.pickle.gz
written diff samples/train-loop.pickle.gz samples/leak.pickle.gz
written diff --fail-over 1 samples/recorded/checkpointed.pickle.gz samples/recorded/decoder.pickle.gz
written diff samples/decoder.layers.json.gz samples/unet.layers.json.gz
written oom samples/ranks.log
written ranks samples/pipeline.summary.gz
written ranks samples/memprofiler
written replay samples/oom.pickle.gz
written replay --gpu-memory 3GiB samples/train-loop.pickle.gz
written shard --world 4 --gpu t4 --checkpointed --bandwidth 100GB --latency 20 samples/gpt.layers.json.gz
written shard --world 4 --checkpointed samples/train-loop.pickle.gz
written shard --modules --curve --world 2 samples/gpt.layers.json.gz
written shard --gpu 1GiB --sweep world=2,8 --sweep batch=1,2,4 samples/gpt.layers.json.gz
written shard --parameters 1M --layers 3 --activations 1GiB
written shard samples/recorded/distillation.pickle.gz
for file in samples/decoder.layers.json.gz samples/unet.layers.json.gz samples/recorded/decoder.pickle.gz; do
    written suggest "$file"
    written suggest --budget 70% --verify "$file"
    written suggest --budgets 80%,60% "$file"
    written suggest --checkpoints 3 "$file"
    written suggest --budget 1 "$file"
done
written suggest --model rotor --budget 520MiB samples/decoder.layers.json.gz

# named FILE...: every member in them is in a manual page.
named() {
    "$PYTHON3" "$cli/json_members.py" "$cli/../../man" "$@"
}
last='the members of all JSON'
check 'are named in the manual pages' named written/* "$cli"/golden/*.json
echo '{"schema": "memsnap.test/1", "nowhere_described": 1}' >written/wrong
named written/* >.run/out || :
out_has 'no manual page names nowhere_described'
out_has 'members, 1 in no page'
finish
