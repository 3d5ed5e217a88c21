#!/bin/sh
# memsnap plot of layer traces and of MemoryTracker's curves, and which kinds draw which files.
. "${srcdir:=.}/tests/cli/lib.sh"
top=$(cd "$cli/../.." && pwd)
MEMSNAP_PLOTS=$top/share/plots
export MEMSNAP_PLOTS

# row NAME PARAMS ALLOCATED FORWARD ACTIVATIONS
row() {
    printf '{"module_name": "%s", "module_params": %s, "allocated": %s, "reserved": 4194304,
      "all_gathered": 0, "cumul_all_gathered": 0, "is_forward": %s,
      "event": {"memory_diff": 0, "memory_activations": %s}}' "$@"
}
{
    printf '{"traces": ['
    row a._wrapped.conv 1024 1048576 true 524288
    printf ,
    row a.act 0 3145728 true 262144
    printf ,
    row a.act 0 2097152 false 131072
    printf ,
    row a._wrapped.conv 1024 1048576 false 65536
    printf ']}\n'
} >trace.json

run plot trace.json --script s # its kind by itself
exits 0
no_out
no_err
sed '/^# layers.gp/,$d' s/plot.gp | cat - s/panels.tsv >.run/out
golden plot-layers.txt
check 'leaves its files only' test "$(ls s | tr '\n' ' ')" = 'panels.tsv plot.gp '
run plot samples/decoder.operators.pickle.gz --script s
exits 0
check 'has the three curves' grep -q '^panels = 3$' s/plot.gp
check 'knows what is forward' grep -q '^passes = 1$' s/plot.gp
run plot samples/fsdp.layers.pickle --script s
exits 0
check 'has all panels' grep -q '^panels = 7$' s/plot.gp
run convert samples/fsdp.layers.pickle --to msgpack --output fsdp.msgpack
run plot fsdp.msgpack --script t
exits 0
check 'draws msgpack alike' cmp s/panels.tsv t/panels.tsv
# shellcheck disable=SC2002 # a pipe is what is tested
cat fsdp.msgpack | "$MEMSNAP" plot - --script u --title fsdp.msgpack
check 'reads a pipe' cmp t/plot.gp u/plot.gp

# Options that do not apply.
run plot samples/decoder.layers.json.gz --kind timeline --script new
exits 2
one_err_line
err_has '--kind timeline does not support a layer trace (supported by: layers, pareto, compare)'
check 'leaves no folder' test ! -e new
run plot samples/leak.pickle.gz --kind layers --script new
exits 2
err_has 'supported by: timeline, categories, segments, sites'
for option in '--range 0:9' '--device 0' '--x time' '--bands 3' '--color site'; do
    # shellcheck disable=SC2086 # an option and its argument
    run plot trace.json $option --script new
    exits 2
    err_has 'does not apply to a layer trace, only to allocator snapshots'
    check 'leaves no folder' test ! -e new
done
echo '{"traces": []}' >empty.json
run plot empty.json --script new
exits 3
err_has 'nothing to plot'
check 'leaves no folder' test ! -e new

# Names that want to be more than text.
evil="';system(\\\"touch owned\\\")#\`touch owned\`@x{/=50 big}%s\\\\n<script>alert(1)</script>&#1;]]>\\u001b[2J\\u202e"
{
    printf '{"traces": ['
    row "$evil" 1024 1048576 true 524288
    printf ']}\n'
} >evil.json
name="x'\`touch owned\`\"\$(touch owned)@{a}<b>&$(printf '\033')[2J.json"
cp evil.json "$name"
run plot "$name" --script s
exits 0
check 'ends no string' lacks '`' s/plot.gp
check 'has no markup' lacks '<script' s/plot.gp

if ! command -v gnuplot >/dev/null; then
    echo 'skipped: there is no gnuplot to draw with'
    finish
fi
plots_hostile "$name"
check 'shows the name' grep -q 'touch owned' evil.svg
out_has 'touch owned'
for input in samples/decoder.layers.json.gz samples/decoder.operators.pickle.gz; do
    run plot $input --term dumb
    exits 0
    out_has ' forward ***'
    out_has ' backward ###'
    out_has '1.8'
done

finish
