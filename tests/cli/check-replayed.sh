#!/bin/sh
# memsnap check --max-reserved with --alloc-conf: the limit of what a replay reserves.
. "${srcdir:=.}/tests/cli/lib.sh"

cp samples/*.gz .
expandable=expandable_segments:True

run check --max-reserved 320MiB --alloc-conf $expandable --alloc-conf max_split_size_mb:64 --alloc-conf '' \
    train-loop.pickle.gz
exits 1
golden check-replayed.txt
# The values are those of memsnap replay.
"$MEMSNAP" replay --format csv --alloc-conf $expandable --alloc-conf max_split_size_mb:64 train-loop.pickle.gz |
    awk -F , 'NR > 1 { print $4 }' | sort >wanted
run check --max-reserved 1 --format json --alloc-conf $expandable --alloc-conf max_split_size_mb:64 --alloc-conf '' \
    train-loop.pickle.gz
exits 1
tr ',' '\n' <.run/out | sed -n 's/^"value"://p' | sort >found
check 'has the values of replay' diff wanted found
run check --max-reserved 316MiB --alloc-conf $expandable train-loop.pickle.gz
exits 0
run check --max-reserved 331350015 --alloc-conf $expandable train-loop.pickle.gz
exits 1
out_has 'memsnap replay --alloc-conf expandable_segments:True train-loop.pickle.gz'
run check --max-reserved 320MiB train-loop.pickle.gz
exits 1

# a policy
echo '{"schema": "memsnap.policy/1", "max-reserved": "320MiB", "alloc-conf": "expandable_segments:True"}' >policy.json
run check --policy policy.json train-loop.pickle.gz
exits 0
run check --policy policy.json --alloc-conf max_split_size_mb:64 train-loop.pickle.gz
exits 1
sed 's/"expandable_segments:True"/["expandable_segments:True", "max_split_size_mb:64"]/' policy.json >both.json
run check --policy both.json train-loop.pickle.gz
exits 1
out_has '1 of 2 checks'
for value in 5 '[]' '[5]' '{}'; do
    echo '{"schema": "memsnap.policy/1", "max-peak": 1, "alloc-conf": '"$value"'}' >bad.json
    run check --policy bad.json train-loop.pickle.gz
    exits 2
    err 'memsnap: check: bad.json: alloc-conf must be a string or an array of strings, for example "expandable_segments:True"'
done
run check --max-peak 1GiB --alloc-conf $expandable train-loop.pickle.gz
exits 2
err_has 'alloc-conf needs max-reserved'
run check --max-reserved 1GiB --alloc-conf what:ever train-loop.pickle.gz
exits 2
err_has "alloc-conf 'what:ever': "

# What cannot be replayed, or not trusted, is not judged, even if a figure would exceed the limit.
run check --max-peak 1GiB --max-reserved 1 --alloc-conf $expandable samples/history-off.pickle
exits 0
out_has 'not judged: cannot be replayed: the'
run check --max-peak 1GiB --max-reserved 1 --alloc-conf $expandable --not-judged error samples/history-off.pickle
exits 2
cp samples/labelled/adversarial-late.pickle.gz .
run check --max-peak 1GiB --max-reserved 1 --alloc-conf $expandable adversarial-late.pickle.gz
exits 0
out_has 'not judged: the replay cannot be'
run check --max-peak 1GiB --max-reserved 1 --alloc-conf $expandable --range 100:900 train-loop.pickle.gz
exits 0
out_has 'not judged: cannot be replayed: a part'
run check --max-peak 64GiB --max-reserved 1 --alloc-conf $expandable decoder.layers.json.gz
exits 0
out_has 'not judged: only allocator snapshots'
run check --max-reserved 1 --alloc-conf $expandable samples/history-off.pickle
exits 2
err_has 'cannot check max-reserved expandable_segments:True: cannot be replayed: the trace has no'
run check --max-peak 1GiB --max-reserved 1 --alloc-conf $expandable --format junit adversarial-late.pickle.gz
exits 0
out_has '<skipped message="not judged: the replay cannot be trusted: '

finish
