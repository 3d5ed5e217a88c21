#!/bin/sh
# memsnap check: rules, policies, formats, and rules that cannot fail.
. "${srcdir:=.}/tests/cli/lib.sh"

cp samples/*.gz samples/*.pickle .

run check --help
exits 0
golden help-check.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"

# report GOLDEN STATUS ARGUMENT...
report() {
    file=$1 wanted=$2
    shift 2
    run check "$@"
    exits "$wanted"
    no_err
    golden "$file"
}

report check-passed.txt 0 --max-peak 296MiB --no-oom --no-leaks --max-fragmentation 30% \
    train-loop.pickle.gz
report check-failed.txt 1 --max-peak 400MiB --max-reserved 1GiB --max-growth 0 --no-leaks --no-oom \
    --max-fragmentation 2.5% --max-category activation=100MiB --max-site 'model.py:*=10MiB' \
    --baseline train-loop.pickle.gz --max-increase 10% leak.pickle.gz
report check-several.txt 1 --max-peak 200MiB --jobs 2 two-devices.pickle.gz cache.pickle.gz
report check-oom.txt 1 --no-oom --at end --max-fragmentation 10% oom-fragmented.pickle.gz
report check-layers.txt 1 --max-peak 2GiB --max-category activation=1GiB \
    --max-memory-after-suggest 4=100MiB decoder.layers.json.gz
report check-github.txt 1 --no-oom --at end --max-fragmentation 10% --format github \
    --source-root /home/user/serve oom-fragmented.pickle.gz
report check-junit.xml 1 --no-oom --max-peak 2GiB --format junit oom-fragmented.pickle.gz \
    two-devices.pickle.gz
report check.json 1 --no-oom --max-fragmentation 10% --max-peak 1GiB --max-site 'serve.py=3GiB' \
    --format json oom-fragmented.pickle.gz
for narrow in check-failed check-several check-oom check-layers; do
    check "$narrow keeps within 80 columns" \
        test -z "$(awk 'length > 80' "$cli/golden/$narrow.txt")"
done

# value RULE ARGUMENT...: the value in the only row of the JSON output
value() {
    run check --format json "$@"
    sed -n 's/.*"value":\(-\{0,1\}[0-9]*\).*/\1/p' .run/out
}

# edge RULE PREFIX FILE [ARGUMENT...]: passes at its value and above, fails just below
edge() {
    rule=$1 prefix=$2
    shift 2
    at=$(value "--$rule" "${prefix}0" "$@")
    check "$rule $prefix has a value" test "${at:-0}" -gt 0
    run check "--$rule" "$prefix$at" "$@"
    exits 0
    run check "--$rule" "$prefix$((at + 1))" "$@"
    exits 0
    run check "--$rule" "$prefix$((at - 1))" "$@"
    exits 1
    out_has ' -1 B  FAILED'
}

edge max-peak '' train-loop.pickle.gz
edge max-reserved '' train-loop.pickle.gz
edge max-growth '' leak.pickle.gz
edge max-fragmentation '' leak.pickle.gz
edge max-fragmentation '' --at end pinned.pickle.gz
edge max-category activation= leak.pickle.gz
edge max-category parameter= --at end leak.pickle.gz
edge max-site 'model.py:*=' leak.pickle.gz
edge max-site '(no stack recorded)=' --device 1 two-devices.pickle.gz
edge max-increase '' --baseline train-loop.pickle.gz leak.pickle.gz
edge max-peak '' decoder.layers.json.gz
edge max-reserved '' decoder.layers.json.gz
edge max-category activation= decoder.layers.json.gz
edge max-memory-after-suggest 4= decoder.layers.json.gz
edge max-increase '' --baseline fsdp.layers.pickle decoder.layers.json.gz
edge max-peak '' decoder.operators.pickle.gz
edge max-reserved '' decoder.operators.pickle.gz

run check --no-oom oom.pickle.gz
out_has 'the allocator ran out of memory once.'

# of lines that hold as much as one another the same one is named everywhere
run check --max-peak 500MiB --max-category activation=1MiB oom.pickle.gz
exits 1
check 'names one line in all' test \
    "$(grep -o 'model.py:5[0-9] forward' .run/out | sort | uniq -c | wc -l)" -eq 1
out_has 'The line that holds most of it is model.py:53 forward: 103.13 MiB'
for format in json junit github; do
    run check --max-peak 500MiB --format $format oom.pickle.gz
    out_has 'model.py:53'
    out_has_not 'model.py:54'
done
run analyze oom.pickle.gz
out_has 'forward (103.13'

# fragmentation is judged at the peak; that it is worse at the end is a warning, unless --at is given
worse='at the end, 572.00 MiB lie in holes, 49.0% of reserved memory'
run check --format json --max-fragmentation 48.9% pinned.pickle.gz
exits 0
out_has '"value":0,'
out_has '"site":""' # nobody is to blame for nothing
out_has "$worse"
run check --format github --max-fragmentation 48.9% pinned.pickle.gz
exits 0
check 'one warning' test "$(grep -c '^::warning .*at the end, 572.00 MiB lie in holes' .run/out)" -eq 1
run check --format json --max-fragmentation 50% pinned.pickle.gz
exits 0
out_has_not 'at the end'
run check --format json --max-fragmentation 48.9% --at peak pinned.pickle.gz
exits 0
out_has_not 'at the end'
run check --format json --max-fragmentation 48.9% --at end pinned.pickle.gz
exits 1
out_has_not 'at the end'
out_has '"site":"serve.py:55 remember"'
run check --format json --max-fragmentation 10% --range 0:135 --max-peak 1GiB pinned.pickle.gz
out_has_not 'at the end'

# a share fails exactly where its bytes do: 128 of 1000 are 12.8%, and no rounding hides one byte
cat >share.json <<'END'
{"device_traces": [], "segments": [{"device": 0, "address": 4096, "total_size": 1000,
 "allocated_size": 872, "active_size": 872, "requested_size": 872, "stream": 0, "segment_type": "large",
 "blocks": [{"address": 4096, "size": 872, "requested_size": 872, "state": "active_allocated"},
            {"address": 4968, "size": 128, "requested_size": 0, "state": "inactive"}]}]}
END
for passes in 12.8% 12.800001% 13% 99.999999%; do
    run check --max-fragmentation $passes share.json
    exits 0
done
for fails in 12.799999% 12.79% 12% 0%; do
    run check --max-fragmentation $fails share.json
    exits 1
done
sed 's/872/750/g; s/4968/4846/; s/128/250/' share.json >smaller.json
for passes in 16.266667% 17% 122 1KiB; do # 122 of 750 are 16.2666...%
    run check --baseline smaller.json --max-increase $passes share.json
    exits 0
done
for fails in 16.266666% 16% 0% 121 0; do
    run check --baseline smaller.json --max-increase $fails share.json
    exits 1
done
run check --baseline share.json --max-increase 0 smaller.json
exits 0
out_has '-122 B'

# how call sites are named
site() {
    run check --format json --max-site "$1=1" leak.pickle.gz
    exits 1
    sed -n 's/.*"value":\([0-9]*\).*/\1/p' .run/out
}
whole=$(site 'model.py:*')
check 'a file is all of its lines' test "$(site model.py)" = "$whole"
check 'a path means the same' test "$(site '/home/user/train/model.py')" = "$whole"
check 'and the end of one' test "$(site 'train/model.py:*')" = "$whole"
check 'a line is less' test "$(site 'model.py:53')" -lt "$whole"
check 'with or without function' test "$(site 'model.py:53')" = "$(site 'model.py:53 forward')"
check 'sets and marks' test "$(site 'model.py:[!0-46-9]? f*d')" -ge "$(site 'model.py:53')"

# rules that cannot fail or cannot be parsed
# a rule that a file gives nothing to judge by silences no other
short='--max-peak 1GiB --max-growth 0 --max-site nowhere.py=1MiB'
run check $short oom.pickle.gz
exits 0
golden check-not-judged.txt
run check $short --format json oom.pickle.gz
exits 0
out_has '"passed":true,"not_judged":2,'
out_has '{"rule":"max-growth","unit":"bytes_per_step","judged":false,"passed":true,'
run check $short --format junit oom.pickle.gz
exits 0
out_has 'tests="3" failures="0" errors="0" skipped="2"'
out_has '<skipped message="not judged: the file holds fewer than 3'
run check $short --format github oom.pickle.gz
exits 0
out_has '::notice title=memsnap%3A max-growth::oom.pickle.gz: not judged: the file'
out_has '::notice title=memsnap::oom.pickle.gz: passed 1 check'
for format in text json junit github; do
    run check $short --not-judged error --format $format oom.pickle.gz
    exits 2
done
out_has '::error title=memsnap%3A max-growth::'
run check $short --not-judged error oom.pickle.gz leak.pickle.gz
exits 2
out_has 'oom.pickle.gz: INCOMPLETE: 1 check, 2 not judged'
out_has '2 files: 0 passed, 1 failed, 1 not checked'
echo '{"schema": "memsnap.policy/1", "max-peak": "1GiB", "no-leaks": true, "not-judged": "error"}' >strict.json
run check --policy strict.json oom.pickle.gz
exits 2
run check --policy strict.json --not-judged pass oom.pickle.gz
exits 0
sed 's/error/maybe/' strict.json >bad.json
run check --policy bad.json oom.pickle.gz
exits 2
err 'memsnap: check: bad.json: not-judged must be "pass" or "error"'
run check --not-judged maybe --max-peak 1 oom.pickle.gz
exits 2
# the policy that comes with memsnap holds for short captures, too
for sample in train-loop.pickle.gz two-devices.pickle.gz; do
    run check --policy "$cli/../../share/ci/memory-policy.json" "$sample"
    exits 0
done

# refused STATUS MESSAGE ARGUMENT...
refused() {
    wanted=$1 message=$2
    shift 2
    run check "$@"
    exits "$wanted"
    no_out
    err "memsnap: $message"
}
refused 2 "check: no rule to check: try --max-peak 70GiB, or see 'memsnap check --help'" \
    leak.pickle.gz
refused 2 'check: max-category: unknown category '"'activations'"'; the categories are: parameter, gradient, optimizer_state, activation, input, temporary, autograd_detail, communication, workspace, kv_cache, cast_cache, unknown' \
    --max-category activations=1GiB leak.pickle.gz
refused 2 'leak.pickle.gz: cannot check max-category communication: nothing in the file has this category' \
    --max-category communication=1GiB leak.pickle.gz
refused 2 'leak.pickle.gz: cannot check max-site modle.py:*: no call site in the file matches this pattern' \
    --max-site 'modle.py:*=1GiB' leak.pickle.gz
refused 2 'oom.pickle.gz: cannot check max-growth: the file holds fewer than 3 complete steps, so growth cannot be measured' \
    --max-growth 0 oom.pickle.gz
refused 2 'oom.pickle.gz: cannot check no-leaks: the file holds fewer than 3 complete steps, so growth cannot be measured' \
    --no-leaks oom.pickle.gz
refused 2 'history-off.pickle: cannot check no-oom: no events were recorded' \
    --no-oom history-off.pickle
# What is in use at the end tells only that the peak is not lower.
run check --max-peak 1GiB --baseline history-off.pickle --max-increase 0 history-off.pickle
exits 0
out_has 'warning: device 0: max-peak compares what was in use when the snapshot was'
out_has 'warning: device 0: max-increase compares what was in use when the snapshot was'
refused 2 'fsdp.layers.pickle: cannot check no-oom: no events were recorded' \
    --no-oom fsdp.layers.pickle
refused 2 'leak.pickle.gz: cannot check max-memory-after-suggest 4: this rule applies to layer traces only' \
    --max-memory-after-suggest 4=1GiB leak.pickle.gz
refused 2 'leak.pickle.gz: cannot check max-increase: the baseline is a different kind of file, or has other devices or ranks' \
    --baseline decoder.layers.json.gz --max-increase 1% leak.pickle.gz
refused 2 'fsdp.layers.pickle: --at does not apply to a layer trace, only to allocator snapshots' \
    --at end --max-peak 1 fsdp.layers.pickle
refused 2 'check: max-fragmentation 100% cannot fail: holes never exceed reserved memory' \
    --max-fragmentation 100% leak.pickle.gz
refused 2 'check: max-increase needs --baseline FILE' \
    --max-increase 2% leak.pickle.gz
refused 2 'check: --baseline needs --max-increase' \
    --max-peak 1GiB --baseline leak.pickle.gz leak.pickle.gz
for bad in 1.0000001% -1% 1%% % 1e3 '' ' 1GiB' 1.5 10GiBs 1000001% 99999999999999999999; do
    refused 2 "check: max-increase takes a limit such as 2% or 512MiB, not '$bad'" \
        --max-increase "$bad" leak.pickle.gz
done
refused 2 "check: max-peak takes a limit such as 70GiB, not '5%'" --max-peak 5% leak.pickle.gz
for bad in activation =1GiB ''; do
    refused 2 "check: max-category takes NAME=SIZE, such as activation=20GiB, not '$bad'" \
        --max-category "$bad" leak.pickle.gz
done
refused 2 'standard input (-) can be read only once' --max-peak 1 - -
refused 5 'none.pickle: No such file or directory' --max-peak 1 none.pickle
refused 5 'none.pickle: No such file or directory' --baseline none.pickle --max-increase 1 leak.pickle.gz

# the last limit of a name holds; names do not replace one another
run check --max-peak 1 --max-peak 1GiB --max-category activation=1 --max-category activation=1GiB \
    --max-category parameter=1 leak.pickle.gz
exits 1
out_has 'FAILED: 1 of 3 checks'

# several files: one that cannot be checked decides the exit status, and CI formats show it
echo 'no snapshot' >text.pickle
run check --max-peak 1GiB leak.pickle.gz text.pickle
exits 3
one_err_line
out_has 'text.pickle: not checked'
out_has '2 files: 1 passed, 0 failed, 1 not checked'
run check --max-peak 1 --format json text.pickle leak.pickle.gz
exits 3
out_has '{"schema":"memsnap.check/1","passed":false,"files":[{"path":"text.pickle","passed":false,"rules":[],'
out_has '"error":{"status":3,"message":"'
run check --max-peak 1GiB --format junit text.pickle
exits 3
out_has '<testsuites name="memsnap check" tests="1" failures="0" errors="1" time="0">'
run check --max-peak 1GiB --format github text.pickle
exits 3
out_has '::error title=memsnap::text.pickle: not checked: '
run check --max-peak 1GiB --format github leak.pickle.gz
exits 0
out_has '::notice title=memsnap::leak.pickle.gz: passed 1 check'
run check --max-peak 1GiB - <leak.pickle.gz
exits 0
out_has 'standard input: passed'

# one device of several cannot be held to a rule
# A folder of captures as baseline: rank to rank.
mkdir -p before after
for rank in 0 1 2; do
    cp train-loop.pickle.gz before/rank_$rank.pickle.gz
    cp train-loop.pickle.gz after/rank_$rank.pickle.gz
done
cp leak.pickle.gz before/rank_1.pickle.gz
for baseline in before 'before/*.gz'; do
    run check --max-increase 0 --jobs 2 --baseline "$baseline" after
    exits 0
    no_err
done
# So is a file with the summaries of all ranks, also against another such file.
for folder in before after; do
    for rank in 0 1 2; do
        "$MEMSNAP" analyze --summary $folder.$rank $folder/rank_$rank.pickle.gz >analyzed
    done
    "$MEMSNAP" merge $folder.0 $folder.1 $folder.2 -o $folder.summary
done
for file in after after.summary after/rank_1.pickle.gz after.1; do
    run check --max-increase 0 --baseline before.summary $file
    exits 0
done
run check --max-increase 0 --baseline after.summary before.summary
exits 1
out_has 'max-increase is that of rank 1'
run check --max-increase 0 --baseline after.summary before
exits 1
out_has 'before/rank_1.pickle.gz: FAILED'
out_has '3 files: 2 passed, 1 failed'
cp leak.pickle.gz after/rank_7.pickle.gz
run check --max-increase 0 --baseline before.summary after/rank_7.pickle.gz leak.pickle.gz
exits 2
err_has 'memsnap: after/rank_7.pickle.gz: cannot check max-increase: '
err_has 'memsnap: leak.pickle.gz: cannot check max-increase: '
rm after/rank_7.pickle.gz
"$MEMSNAP" analyze --summary twice.0 leak.pickle.gz >analyzed
cp leak.pickle.gz copy_rank_0.pickle.gz
"$MEMSNAP" analyze --summary twice.1 copy_rank_0.pickle.gz >analyzed
"$MEMSNAP" merge before.0 twice.1 -o twice.summary
refused 2 'twice.summary: the baseline has two captures of rank 0' --max-increase 0 --baseline twice.summary after.0
"$MEMSNAP" merge before.0 twice.0 -o twice.summary
refused 2 'twice.summary: the baseline has summaries of several captures, of which one has no rank' \
    --max-increase 0 --baseline twice.summary after.0
cp leak.pickle.gz after/rank_2.pickle.gz
run check --max-increase 0 --baseline before after
exits 1
out_has 'after/rank_2.pickle.gz: FAILED'
out_has '3 files: 2 passed, 1 failed'
mv before/rank_1.pickle.gz before/rank_5.pickle.gz
cp leak.pickle.gz before/other_rank_2.pickle.gz
cp leak.pickle.gz after/unknown.pickle.gz
run check --max-increase 0 --baseline before after
exits 2
err 'memsnap: after/rank_1.pickle.gz: the baseline has no capture of rank 1
memsnap: after/rank_2.pickle.gz: the baseline has 2 captures of rank 2
memsnap: after/unknown.pickle.gz: cannot find its baseline: its rank is not known (see --rank-pattern)'
run check --max-increase 0 --baseline before after/rank_0.pickle.gz samples/../after/rank_0.pickle.gz
exits 2
err_has '2 files are of rank 0, of which the baseline has one capture'
: >before/rank_0.pickle.gz
run check --max-increase 0 --baseline before after/rank_0.pickle.gz
exits 3
err 'memsnap: after/rank_0.pickle.gz: its baseline before/rank_0.pickle.gz: expected a pickle or JSON, not an empty file'
run check --max-increase 0 --rank 2 --baseline before after
exits 2
rm -r before after

run check --max-increase 0 --baseline leak.pickle.gz two-devices.pickle.gz
exits 0
out_has 'warning: device 1: max-increase was not checked: the baseline has no such'

# categories of one's own
echo 'kept: train.py:evaluate' >own.rules
run check --rules own.rules --max-category kept=1GiB leak.pickle.gz
exits 0
cp pinned.pickle.gz serving.pickle.gz
refused 2 'serving.pickle.gz: cannot check max-category kept: nothing in the file has this category' \
    --rules own.rules --max-category kept=1GiB serving.pickle.gz

# output into a file, and nothing of one that failed
run check --max-peak 1 -o report.txt leak.pickle.gz
exits 1
no_out
check 'the file is the report' grep -q FAILED report.txt
run check --max-peak 1 -o none.txt text.pickle
exits 3
check 'leaves no file' test ! -e none.txt

finish

# What shows more looks at the same: moment, events, device and rules.
run check --max-fragmentation 5% --at end samples/pinned.pickle.gz
exits 1
out_has '    memsnap analyze --at end samples/pinned.pickle.gz'
run check --max-peak 1MiB --at end --range 5:90 --device 0 --rules none samples/pinned.pickle.gz
exits 1
tr -s ' \n' ' ' <.run/out >flowed
check 'repeats the options' grep -qF \
    'memsnap analyze --at end --range 5:90 --device 0 --rules none samples/pinned.pickle.gz' flowed
