#!/bin/sh
# memsnap plot: scripts and data, pictures where gnuplot is, and names that want to be more than text.
. "${srcdir:=.}/tests/cli/lib.sh"
top=$(cd "$cli/../.." && pwd)
MEMSNAP_PLOTS=$top/share/plots
export MEMSNAP_PLOTS

run plot --help
exits 0
golden help-plot.txt
run plot samples/leak.pickle.gz
exits 2
one_err_line
err_has 'missing output: use --out FILE'
run plot samples/leak.pickle.gz --out report.bmp
exits 2
err_has '.svg, .png, .pdf or .html'
run plot samples/leak.pickle.gz --out report.html --script s
exits 2
one_err_line
run plot samples/leak.pickle.gz --out report.html --kind categories
exits 2
one_err_line
run plot --kind timeline samples/leak.pickle.gz samples/oom.pickle.gz --out report.svg
exits 2
run plot --kind pie samples/leak.pickle.gz --out report.svg
err_has 'expected one of timeline'
for bad in '--kind pie' '--x y' '--bands 0' '--bands 9999999' '--color red' '--size 10x10' '--size 800x'; do
    # shellcheck disable=SC2086 # a list of words
    run plot $bad samples/leak.pickle.gz --out report.svg
    exits 2
    one_err_line
done

# Scripts and data. A sample of each kind is kept whole but for the long curves.
run plot samples/train-loop.pickle.gz --script s --bands 3 --size 800x500 --range 0:60
exits 0
no_out
no_err
cat s/plot.gp s/bands.tsv s/rest.tsv s/phases.tsv s/labels.tsv >.run/out
golden plot-timeline.txt
rm -r s
# gnuplot makes text of a PDF smaller than it is asked to.
run plot samples/leak.pickle.gz --out part.pdf --script s
check 'scales the text of a PDF' grep -q "^set terminal pdfcairo .*,9' fontscale 0.75 linewidth 2$" s/plot.gp
rm -r s
run plot samples/train-loop.pickle.gz --script s --kind categories --range 0:20 --title 'A title'
exits 0
cat s/plot.gp s/categories.tsv s/curves.tsv s/phases.tsv >.run/out
golden plot-categories.txt
check 'leaves the files only' test "$(ls s | wc -l)" -eq 4
run plot samples/train-loop.pickle.gz --script s --x time --color site
exits 0
check 'labels call sites' grep -q 'MiB model.py:' s/labels.tsv
check 'has a legend of call sites' grep -q "key_text.*'model.py:.* forward'" s/plot.gp
check 'and of what has no band' grep -q 'train.py:.* main' s/plot.gp
run plot samples/leak.pickle.gz --at 100 --script s
exits 0
check 'marks the moment' grep -q "^mark_text = '[0-9.]* MiB at event 100'" s/plot.gp
run plot samples/leak.pickle.gz --at 10000000 --script s
exits 2
run plot samples/two-devices.pickle.gz --script s --device 1 --color size
exits 0
check 'tells the device' grep -q 'device 1, ' s/plot.gp
run plot samples/history-off.pickle --script s
exits 0
check 'tells that there are no events' grep -q "^x_label = 'no events were recorded'" s/plot.gp
run plot samples/history-off.pickle --x time --script s
exits 2
run plot samples/leak.pickle.gz --device 7 --script new
exits 2
check 'leaves no folder' test ! -e new
echo junk >junk
run plot junk --script new
exits 3
check 'leaves no folder' test ! -e new

# Reserved memory: each pool apart, the largest hole and why it does not serve.
run plot samples/oom-fragmented.pickle.gz --kind segments --script s
exits 0
check 'tells of the hole' grep -q "^plot_note = 'largest hole (outlined): 109.50 MiB in pool large; memory ran out at event 166 (640.00 MiB requested): that hole is too small'" s/plot.gp
cat s/segment-pools.tsv s/segment-hole.tsv s/segment-ends.tsv s/segments.tsv >.run/out
golden plot-segments.txt
run plot samples/recorded/oom-other-stream.pickle.gz --kind segments --script s
check 'names streams' grep -q 'pool large, stream' s/segment-pools.tsv
run plot samples/recorded/oom-graph-pools.pickle.gz --kind segments --script s
check 'names pools of graphs' grep -q 'graph pool' s/segment-pools.tsv
check 'says who can use it' grep -q "CUDA graph can use it\|is not in pool" s/plot.gp
check 'says what graphs keep' grep -q "; 181.98 MiB of that between blocks, 0 B could go back to the device, 248.00 MiB only once their CUDA graphs are gone'$" s/plot.gp
run plot samples/recorded/oom-graph-pools.pickle.gz --kind segments --out graphs.svg
check 'says so of a hole' grep -q '128.00 MiB, free, but kept for the CUDA graph of its pool' graphs.svg
check 'promises none of it' lacks 'free, and could go back' graphs.svg
run plot samples/pending-frees.pickle.gz --kind segments --at peak --script s
check 'shows frees that wait' grep -q '	13983232$\|	1[0-9]*$' s/segments.tsv
run plot samples/train-loop.pickle.gz --kind segments --at +1us --script s
exits 0
check 'tells the moment' grep -q 'device 0 at event 0 of' s/plot.gp
run plot samples/train-loop.pickle.gz --kind segments --range 0:100 --at 50 --script s
exits 2
one_err_line
echo '{"segments": [{"device": 0, "address": 4096, "total_size": 2097152, "stream": 0, "segment_type": "small", "blocks": [{"address": 4096, "size": 1048576, "requested_size": 7, "state": "active_allocated"}]}], "device_traces": []}' >untold.json
run plot untold.json --kind segments --script s
check 'shows what no block tells' grep -q '	16181185$' s/segments.tsv
check 'and says so' grep -q '^untold = 1' s/plot.gp
# The drawn blocks add up to reserved memory.
run plot samples/train-loop.pickle.gz --kind segments --script s
drawn=$(awk -F '\t' '!/^#/ { sum += $2 - $1 } END { printf "%.0f", sum }' s/segments.tsv)
check 'draws all that is reserved' grep -q "snapshot: $drawn.00 MiB reserved" s/plot.gp

# Memory by call site: one bar for each, and one for the rest.
run plot samples/train-loop.pickle.gz --kind sites --script s --size 800x450
exits 0
cat s/plot.gp s/bars.tsv >.run/out
golden plot-sites.txt
run plot samples/train-loop.pickle.gz --kind sites --at end --script s
check 'tells the moment' grep -q 'live at the end' s/plot.gp
rm -r s
run plot samples/train-loop.pickle.gz --kind flame --script s --size 800x450
exits 0
no_err
cat s/plot.gp s/frames.tsv s/labels.tsv >.run/out
golden plot-flame.txt
check 'is as wide as the peak' grep -q '	everything' s/labels.tsv
run plot samples/train-loop.pickle.gz --kind flame --at end --script s
exits 0
check 'tells the moment' grep -q 'live at the end' s/plot.gp
awk 'BEGIN { printf "{\"segments\": [], \"device_traces\": [["
    for (i = 0; i < 400; i++)
        printf "%s{\"action\": \"alloc\", \"addr\": %d, \"size\": %d, \"stream\": 0, \"frames\": [{\"name\": \"f%d\", \"filename\": \"/u/a.py\", \"line\": 1}]}", i ? ", " : "", i * 4096, i ? 1 : 100000, i
    printf "]]}" }' >narrow.json
run plot narrow.json --kind flame --script s
exits 0
check 'tells what it leaves out' grep -q 'not drawn: frames of less than .*: 399 B, 0.4% of it' s/plot.gp
check 'draws no more than can be seen' test "$(grep -vc '^#' s/frames.tsv)" -eq 2
awk 'BEGIN { printf "{\"segments\": [], \"device_traces\": [[{\"action\": \"alloc\", \"addr\": 4096, \"size\": 7000, \"stream\": 0, \"frames\": ["
    for (i = 0; i < 300; i++)
        printf "%s{\"name\": \"f%d\", \"filename\": \"/u/a.py\", \"line\": 1}", i ? ", " : "", i
    printf "]}]]}" }' >deep.json
run plot deep.json --kind flame --script s
exits 0
check 'tells what lies too deep' grep -q 'rows below the last (more with --size): 6.84 KiB, 100.0% of it' s/plot.gp
run plot samples/ring-overflow.pickle.gz --kind sites --script s
exits 0
# The peak of each phase, and the memory live at its end.
run plot samples/leak.pickle.gz --kind phases --script s --size 4000x900
exits 0
cat s/phase-bars.tsv s/phase-steps.tsv >.run/out
golden plot-phases.txt
check 'tells what grows' grep -q '^plot_note = .5 steps; the memory live at the end of a step grows by [0-9.]* MiB a step' s/plot.gp
run plot samples/history-off.pickle --kind phases --script s
exits 0
check 'tells that there are none' grep -q 'no forward, backward or optimizer step was found' s/plot.gp

# The report page.
run plot samples/oom-fragmented.pickle.gz --kind report --script s
exits 0
grep '^word_text' s/plot.gp >.run/out
golden plot-report.txt
check 'has every graph' test "$(grep -c '^plot_title' s/plot.gp)" -eq 5
run plot samples/leak.pickle.gz --kind report --at end --script s
exits 0
check 'tells the moment' grep -q "plot_title = 'Live memory by category, at the end'" s/plot.gp


# Every graph is inside the page at any size; a short page has fewer graphs.
# on_page FILE: between 0 and 1, and the right way round.
on_page() {
    awk '$2 == "=" && /^(left|right|top|bottom|title_y|subtitle_y|note_y) = / {
            at[$1] = $3
            if ($3 < 0 || $3 > 1) { print; wrong = 1 }
        }
        /^bottom = / && at["bottom"] >= at["top"] || /^right = / && at["left"] >= at["right"] { print; wrong = 1 }
        /^graph_height = / && $3 < 20 { print; wrong = 1 }
        /^word_x/ && ($6 < 0 || $6 > 1) { print; wrong = 1 }
        END { exit wrong }' "$1"
}
for size in 800x450 1000x600 1000x660 800x899 800x900 1600x1080 1600x1081 8000x450 8000x8000; do
    for kind in timeline categories segments sites phases flame report; do
        run plot samples/oom.pickle.gz --kind $kind --size $size --script s
        exits 0
        check "is on the page of $kind, $size" on_page s/plot.gp
    done
done
for page in 800x450:1 1000x639:1 1000x640:3 1000x899:3 1000x900:4; do
    run plot samples/oom.pickle.gz --kind report --size ${page%:*} --script s
    check "has $page graphs, and words" test "$(grep -c '^plot_title' s/plot.gp)" -eq $((${page#*:} + 1))
done

for bad in '--at never' '--at 99999999'; do
    # shellcheck disable=SC2086 # a list of words
    run plot $bad --kind sites samples/train-loop.pickle.gz --script s
    exits 2
    one_err_line
done

# Templates: the variable first, then the user's own.
mkdir -p own .config/memsnap/plots
cp "$MEMSNAP_PLOTS"/*.gp own
echo '# mine by variable' >>own/timeline.gp
cp "$MEMSNAP_PLOTS"/*.gp .config/memsnap/plots
echo '# mine by configuration' >.config/memsnap/plots/timeline.gp
MEMSNAP_PLOTS=$here/own run plot samples/leak.pickle.gz --script s
check 'uses the variable' grep -q 'mine by variable' s/plot.gp
MEMSNAP_PLOTS=$here run plot samples/leak.pickle.gz --script s
exits 0
check 'uses the configuration' grep -q 'mine by configuration' s/plot.gp
rm -r .config/memsnap/plots

# gnuplot missing, failing, and saying so.
mkdir bin
PATH=$here/bin run plot samples/leak.pickle.gz --out report.html
exits 0
no_out
no_err
check 'is a page' grep -q '<title>leak.pickle.gz</title>' report.html
echo old >report.html
PATH=$here/bin run plot junk --out report.html
exits 3
check 'leaves the old page' grep -qx old report.html
check 'leaves no other file' test "$(ls -d report.html* | wc -l)" -eq 1
PATH=$here/bin run plot samples/leak.pickle.gz --out report.svg
exits 5
one_err_line
err_has 'gnuplot-nox'
PATH=$here/bin run plot samples/leak.pickle.gz --out report.svg --script missing
exits 5
check 'has the script all the same' test -s missing/plot.gp
printf '#!/bin/sh\necho half a picture\necho "no such terminal" >&2\nexit 1\n' >bin/gnuplot
chmod +x bin/gnuplot
echo old >report.svg
PATH=$here/bin:$PATH run plot samples/leak.pickle.gz --out report.svg
exits 5
err 'memsnap: gnuplot failed: no such terminal'
check 'leaves the old picture' grep -qx old report.svg
check 'leaves no other file' test "$(ls -d report.svg* | wc -l)" -eq 1
# shellcheck disable=SC2016 # for the script
printf '#!/bin/sh\nls -l /proc/$$/fd | sed -n "s/.*-> //p" >%s/fds\nenv >%s/env\nls >%s/ls\n' \
    "$here" "$here" "$here" >bin/gnuplot
PATH=$here/bin:$PATH MEMSNAP_PLOTS=$MEMSNAP_PLOTS run plot samples/leak.pickle.gz --out report.svg
exits 0
check 'does not show it the input' lacks pickle fds
check 'keeps the environment to itself' lacks MEMSNAP env
# Ended by a signal while it draws.
mkdir temporary
printf '#!/bin/sh\necho half\nexec sleep 20\n' >bin/gnuplot
PATH=$here/bin:$PATH TMPDIR=$here/temporary timeout 1 \
    "$MEMSNAP" plot samples/leak.pickle.gz --out killed.svg 2>.run/err
check 'says so' grep -qx 'memsnap: interrupted' .run/err
check 'leaves no picture' test -z "$(ls -d killed* 2>&-)"
check 'leaves no folder' test -z "$(ls temporary)"
# Ended by a signal to all its processes while it waits for the rest of the input.
mkfifo slow
exec 3<>slow
for signal in TERM INT; do
    PATH=$here/bin:$PATH TMPDIR=$here/temporary timeout -s $signal 1 \
        "$MEMSNAP" plot slow --out killed.svg 2>.run/err
    check "says so after SIG$signal" grep -qx 'memsnap: interrupted' .run/err
    check 'says nothing else' test "$(wc -l <.run/err)" -eq 1
    check 'leaves no picture' test -z "$(ls -d killed* 2>&-)"
    check 'leaves no folder' test -z "$(ls temporary)"
done
exec 3>&-
rm -r bin slow

# Without a record of allocations, live memory is known in the snapshot only.
for x in event time; do
    run plot samples/newest/skip-alloc.pickle.gz --kind timeline --x $x --script s
    exits 0
    check 'says so' grep -q "^plot_note = 'alloc was not recorded (skip_actions), so live memory is known only in" s/plot.gp
    first=$(awk '!/^#/ && $2 != "nan" { print $1; exit }' s/curves.tsv)
    check 'draws reserved memory throughout' \
        awk '!/^#/ && $3 > 0 { n++ } END { exit n < 100 }' s/curves.tsv
    check 'draws no band before' \
        awk -v first="$first" '!/^#/ && NF && $1 < first { bad = 1 } END { exit bad || NR < 10 }' s/bands.tsv
    check 'live memory begins late' test "${first%.*}" -gt 20
done
run plot samples/newest/skip-alloc.pickle.gz --out skipped.html
exits 0
check 'the page says so' grep -q 'Alloc was not recorded (skip_actions)' skipped.html

# Names that would be commands, markup, or the end of a string.
evil="';system(\"touch owned\")#\`touch owned\`@x{/=50 big}%s\\\\n<script>alert(1)</script>&#1;]]>\\t"
printf '%s' "$evil" >evil.txt
cat >evil.json <<'END'
{"segments": [], "device_traces": [[
 {"action": "alloc", "addr": 4096, "size": 104857600, "stream": 0, "time_us": 1000, "frames": [
   {"name": "f';system('touch owned')#`touch owned`\u001b[2J\n\"\\\u202e\ud800<b>&]]>{/=9 x}@a", "filename": "/a/b\t'`touch owned`.py", "line": 7}]},
 {"action": "annotate", "addr": 4096, "size": 104857600, "stream": 0, "time_us": 1000,
  "user_metadata": "g';system('touch owned')#`touch owned`\u001b[2J\n\"\\\u202e\ud800<b>&]]>{/=9 x}@a"},
 {"action": "free_requested", "addr": 4096, "size": 104857600, "stream": 0, "time_us": 1001, "frames": []},
 {"action": "free_completed", "addr": 4096, "size": 104857600, "stream": 0, "time_us": 1002, "frames": []}]]}
END
name="x'\`touch owned\`\"\$(touch owned)@{a}<b>&.json"
cp evil.json "$name"
run plot "$name" --script s --color site
exits 0
check 'ends no string' lacks 'touch owned`' s/plot.gp
check 'ends no string' lacks "f'" s/labels.tsv
check 'has fields of its own only' test "$(awk -F '\t' '!/^#/ && NF != 4' s/labels.tsv | wc -l)" -eq 0

# The same, and it is never freed.
awk '/"name"/ { sub(/},$/, ""); frames = $0 }
    END {
        block = "\"size\": 104857600, \"requested_size\": 104857600, \"state\": \"active_allocated\""
        printf "{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 104857600, \"stream\": 0, \"segment_type\": \"large\", \"blocks\": [{\"address\": 4096, %s, \"frames\": [%s}]}], ", block, frames
        printf "\"device_traces\": [[{\"action\": \"alloc\", \"addr\": 4096, \"size\": 104857600, \"stream\": 0, \"time_us\": 1000, \"frames\": [%s}, ", frames
        printf "{\"action\": \"annotate\", \"addr\": 4096, \"size\": 104857600, \"stream\": 0, \"user_metadata\": \"mine\\n<i>\"}]]}"
    }' evil.json >held.json
echo '{"segments": [{"device": 0, "address": 4096, "total_size": 2097152, "stream": 0, "segment_type": "small", "blocks": []}], "device_traces": []}' >empty.json
awk 'BEGIN {
    printf "{\"segments\": ["
    for (i = 0; i < 3000; i++) {
        printf "%s{\"device\": 0, \"address\": %d, \"total_size\": 4096, \"stream\": %d, \"segment_type\": \"small\", ", i ? "," : "", 4096 * (i + 1), i % 100
        printf "\"blocks\": [{\"address\": %d, \"size\": 512, \"requested_size\": 1, \"state\": \"active_allocated\"}, {\"address\": %d, \"size\": 3584, \"requested_size\": 0, \"state\": \"inactive\"}]}", 4096 * (i + 1), 4096 * (i + 1) + 512
    }
    print "], \"device_traces\": []}"
}' >deep.json

if ! command -v gnuplot >/dev/null; then
    echo 'skipped: there is no gnuplot to draw with'
    finish
fi

# well_formed FILE: XML, without scripts.
well_formed() {
    [ -z "${PYTHON3-}" ] || "$PYTHON3" -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$1" || return
    ! grep -qi '<script\|javascript\|xlink:href="http' "$1"
}

for kind in timeline categories segments sites phases report flame; do
    for format in svg png pdf; do
        run plot --kind $kind samples/leak.pickle.gz --out "report.$format"
        exits 0
        no_out
        no_err
    done
    check 'is a picture' well_formed report.svg
    check 'is a PNG' test "$(head -c 4 report.png | tail -c 3)" = PNG
    check 'is a PDF' test "$(head -c 4 report.pdf)" = %PDF
    run plot --kind $kind --color site --title "$(cat evil.txt)" "$name" --out "$name.svg"
    exits 0
    no_err
    check 'is well-formed' well_formed "$name.svg"
    check 'runs nothing' test ! -e owned
    run plot --kind $kind held.json --out held.svg
    exits 0
    no_err
    check 'is well-formed' well_formed held.svg
    check 'tells of its shapes' grep -q '</title></path>' held.svg
    case $kind in
    categories | phases) ;;
    *) check 'tells the call site in one line' \
        grep -q '<title>b.*touch owned.*py:7 f&#39;;system.*&#60;b&#62;&#38;.*&#10;100.00 MiB' held.svg ;;
    esac
    case $kind in
    timeline | segments | report)
        check 'tells the annotation' grep -q '<title>b.*, mine &#60;i&#62;&#10;100.00 MiB' held.svg
        ;;
    esac
    check 'runs nothing' test ! -e owned
    run plot --kind $kind samples/history-off.pickle --out report.svg
    exits 0
    check 'is a picture without events' well_formed report.svg
done
for file in empty deep; do
    for kind in timeline categories segments sites phases report flame; do
        run plot --kind $kind $file.json --out report.svg
        exits 0
        no_err
    done
done
run plot "$name" --out "$name.svg"
check 'shows the call site' grep -q 'b.*touch owned.*py:7' "$name.svg"
run plot samples/leak.pickle.gz --script s --out report.svg
exits 0
# without_shapes FILE: what gnuplot drew, but for bands and boxes, titles and how its groups take the pointer.
without_shapes() {
    awk '/<polygon/ { within = 1 } !within && !/<path fill=/ { print } within && />/ { within = 0 }' "$1" |
        sed -e 's/ pointer-events="[a-z]*"//' -e 's# *><title>gnuplot_plot_[0-9a-z]*</title>#>#' \
            -e 's/^\(.*<g id="gnuplot_plot_[^ ]*\) *>/\1>/' -e '/^<title>/d'
}
(cd s && gnuplot plot.gp 2>.gnuplot)
without_shapes s/timeline.svg >drawn
without_shapes report.svg >told
check 'is drawn anew from the script' cmp drawn told
check 'writes shapes the short way' lacks "<polygon fill = 'rgb" report.svg
# shapes FILE: the colours of all, of several shapes in one path as often as there are.
shapes() {
    sed -n "s/.*<polygon fill = '\(rgb([^)]*)\)'.*/\1/p" "$1" | tr -dc '0-9,\n' |
        awk -F , '{ printf "#%02x%02x%02x\n", $1, $2, $3 }'
    sed -n 's/.*<path fill="\(#[0-9a-f]*\)" d="\([^"]*\)".*/\1 \2/p' "$1" |
        awk '{ colour = $1; for (n = gsub(/M/, "M"); n > 0; n--) print colour }'
}
shapes s/timeline.svg | sort >drawn
shapes report.svg | sort >told
check 'draws all shapes' cmp drawn told
check 'there are some' test "$(wc -l <told)" -gt "$(grep -c '^$' s/bands.tsv)"
check 'tells of bands' test "$(grep -c '</title></path>' report.svg)" -gt 100
check 'tells nothing of gnuplot' lacks '<title>gnuplot' report.svg
run plot samples/leak.pickle.gz --out no/such/folder.svg
exits 5
one_err_line

finish
