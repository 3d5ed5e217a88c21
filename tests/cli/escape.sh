#!/bin/sh
# Text from a file cannot control the terminal, wherever it is in the file.
. "${srcdir:=.}/tests/cli/lib.sh"

# Controls the terminal, reverses text, hides text, and is invalid UTF-8 (in JSON: a lone surrogate).
evil='\u001b[2J\u202e\u200b\u0007\n\u009b\ud800'
cat >evil.json <<END
{"segments": [{"device": 0, "address": 4096, "total_size": 2097152, "allocated_size": 512,
   "active_size": 512, "requested_size": 512, "stream": 0, "segment_type": "$evil", "blocks": [
     {"address": 4096, "size": 512, "requested_size": 512, "state": "active_allocated",
      "frames": [{"name": "f$evil", "filename": "/a/b$evil.py", "line": 7}]},
     {"address": 4608, "size": 2096640, "requested_size": 0, "state": "inactive", "frames": []}]}],
 "device_traces": [[{"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "time_us": 1000,
     "frames": [{"name": "at::_ops::op$evil::call()", "filename": "??", "line": 0},
                {"name": "f$evil", "filename": "/a/b$evil.py", "line": 7}]},
   {"action": "act$evil", "addr": 0, "size": 0, "stream": 0, "time_us": 1001, "frames": []}]],
 "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "conf$evil", "key$evil": "value$evil"},
 "external_annotations": [{"stage": "START", "name": "note$evil", "device": 0, "time_us": 900}],
 "unknown$evil": 1}
END

# harmless: nothing below a space but newlines, nothing that hides, valid UTF-8
harmless() {
    LC_ALL=C grep -q '[^ -~]' .run/out || return 0
    LC_ALL=C grep -n '[^ -~]' .run/out | od -c
    return 1
}

for arguments in '' --stacks --verbose '--at end' '--top 0 --units bytes' '--at 0'; do
    # shellcheck disable=SC2086 # a list of words
    run analyze $arguments evil.json
    exits 0
    no_err
    check 'is harmless' harmless
    out_has 'conf\x1b[2J\u{202e}\u{200b}\x07\n\u{9b}'
done
run analyze --stacks --verbose evil.json
out_has '.py:7 f\x1b[2J'
out_has 'note\x1b[2J'
out_has 'act\x1b[2J'
out_has 'unknown\x1b[2J'
run analyze --format json --verbose evil.json
exits 0
no_err
out_has_not "$(printf '\033')"
out_has_not "$(printf '\342\200\256')"
out_has '\u001b[2J\u202e'
if [ -n "${PYTHON3-}" ]; then
    check 'is valid JSON' "$PYTHON3" -c 'import json; json.load(open(".run/out", encoding="utf-8"))'
fi

run analyze --explain .py evil.json
exits 0
check 'is harmless' harmless

# Names of modules, in a report and in Python.
event() {
    printf '{"module_name": "%s", "module_params": 0, "allocated": 0, "reserved": 0, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_diff": 100, "memory_activations": 100}}' "$1"
}
evil='\u001b[2J\u202e\u200b\u0007\n\u009b\"); exit(1) #'
{
    printf '{"traces": [%s' "$(event first)"
    for layer in 1 2 3 4 5 6 7; do
        printf ',%s' "$(event "m$layer$evil")"
    done
    printf ']}'
} >evil-layers.json
for command in analyze suggest 'suggest --budget 60%' 'suggest --checkpoints 2' \
    'suggest --granularity leaf --budget 60%'; do
    # shellcheck disable=SC2086 # a list of words
    run $command evil-layers.json
    exits 0
    no_err
    check 'is harmless' harmless
done
out_has '"m1\u001b[2J\u202e\u200b\u0007\u000a\u009b\"); exit(1) #"'
if [ -n "${PYTHON3-}" ]; then
    sed -n '/^from /,/^Basis of these figures/p' .run/out | sed '$d' >plan.py
    check 'is valid Python' "$PYTHON3" -c 'import ast; ast.parse(open("plan.py").read())'
fi

# A name that would fill screens is cut inside a sentence.
long=$(printf '%5000s' '' | tr ' ' N)
printf '{"traces": [%s]}' "$(event "begin$long")" >long.json
run analyze long.json
exits 0
check 'has no endless line' test -z "$(awk 'length > 500' .run/out)"
out_has 'after forward of'
out_has 'beginN'

# An error that quotes the file.
printf '{"segments": [], "device_traces": [], "segments": "\033]0;owned\007"}' >quoted.json
run analyze quoted.json
exits 3
one_err_line
check 'quotes harmlessly' lacks "$(printf '\033')" .run/err

# A NUL byte in names is shown as any other control character is, and ends nothing.
code() {
    gzip -dc samples/train-loop.json.gz | sed 's/\.py"/\\u000'"$1"'.py"/g
        s/"forward"/"for\\u000'"$1"'ward"/g
        s/"train_step"/"\\u000'"$1"'train_step"/g'
}
code 0 >nul.json
code 1 >one.json
for arguments in 'analyze --top 0' 'analyze --format json' 'analyze --explain train_step' flame \
    'flame --format speedscope' 'export --table sites' 'check --max-peak 1 --format json' \
    'check --max-peak 1 --format github' 'suggest --checkpoints 2' 'suggest --granularity *ward'; do
    for file in nul one; do
        # shellcheck disable=SC2086 # a list of words
        "$MEMSNAP" $arguments $file.json 2>&1 | sed "s/$file\.json/FILE/g
            s/\\\\*x0[01]/@/g; s/\\\\u000[01]/@/g" >$file.out
    done
    check "$arguments knows NUL" cmp nul.out one.out
    check "$arguments names it" grep -q '@' one.out
done

finish
