#!/bin/sh
# memsnap plot --term: pictures made of characters, sixel images, and which of them a terminal gets.
. "${srcdir:=.}/tests/cli/lib.sh"
top=$(cd "$cli/../.." && pwd)
MEMSNAP_PLOTS=$top/share/plots
export MEMSNAP_PLOTS

if ! command -v gnuplot >/dev/null; then
    echo 'skipped: there is no gnuplot to draw with'
    exit 77
fi
escape=$(printf '\033')

# widest: columns of the widest line
widest() {
    LC_ALL=C.UTF-8 wc -L <.run/out
}

# clean FILE: no control characters but newlines
clean() {
    ! LC_ALL=C grep -q '[^ -~[:cntrl:]]*[[:cntrl:]]' "$1"
}

for kind in timeline categories; do
    run plot --kind $kind samples/train-loop.pickle.gz --term dumb
    exits 0
    no_err
    out_has 'peak '
    out_has '****'
    check 'keeps within 80 columns' test "$(widest)" -le 80
    check 'keeps within 24 lines' test "$(wc -l <.run/out)" -le 22
    check 'has characters only' clean .run/out
    COLUMNS=120 LINES=40 run plot --kind $kind samples/train-loop.pickle.gz --term dumb
    check 'takes COLUMNS' test "$(widest)" -gt 100 -a "$(widest)" -le 120
    check 'takes LINES' test "$(wc -l <.run/out)" -gt 30 -a "$(wc -l <.run/out)" -le 40
done
out_has 'activation 146'
out_has ' others 16.26 MiB' # all sizes add up to the peak
run plot --kind categories samples/recorded/oom-other-stream.pickle.gz --term dumb
out_has_not others
run plot --kind categories samples/train-loop.pickle.gz --term dumb --range 0:260 # six
out_has_not others
for size in '60 10' '80 24' '120 40'; do
    COLUMNS=${size% *} LINES=${size#* } run plot --kind sites samples/train-loop.pickle.gz --term dumb
    exits 0
    no_err
    out_has 'live at the peak'
    out_has ' ########'
    check 'keeps within COLUMNS' test "$(widest)" -le "${size% *}"
    check 'keeps within LINES' test "$(wc -l <.run/out)" -le "${size#* }"
    check 'names every bar' test "$(grep -c '[^ ] #' .run/out)" -eq "$(grep -c '# [0-9.]* [KMG]*i*B' .run/out)"
    check 'has characters only' clean .run/out
done
COLUMNS=80 LINES=10 run plot --kind sites samples/train-loop.pickle.gz --term dumb
out_has '(all other call sites) #'
run plot --kind segments samples/train-loop.pickle.gz --term dumb
exits 2
one_err_line
no_out
run plot samples/train-loop.pickle.gz --term auto
exits 0
check 'is characters in a pipe' clean .run/out
run plot samples/train-loop.pickle.gz --term dumb --script s
exits 0
out_has 'peak '
check 'is drawn anew from the script' /bin/sh -c 'cd s && gnuplot plot.gp | grep -q peak'
for bad in '--term x' '--term dumb --out a.svg' '--term dumb --size 900x900'; do
    # shellcheck disable=SC2086 # a list of words
    run plot $bad samples/leak.pickle.gz
    exits 2
    one_err_line
    no_out
done

# Sixel: an image and nothing else.
has_sixel=false
if gnuplot -d -e "exit status strstrt(GPVAL_TERMINALS, ' sixelgd ') == 0" >/dev/null 2>&1; then
    has_sixel=true
    run plot samples/train-loop.pickle.gz --term sixel
    exits 0
    no_err
    check 'is sixel' test "$(head -c 3 .run/out)" = "${escape}Pq"
    check 'has one beginning and one end' test "$(tr -cd '\033' <.run/out | wc -c)" -eq 2
fi

# Names that would steer the terminal.
cat >evil.json <<'END_JSON'
{"segments": [], "device_traces": [[
 {"action": "alloc", "addr": 4096, "size": 104857600, "stream": 0, "time_us": 1000, "frames": [
   {"name": "f\u001b[2J\u009b31m\n\b\u0007\u202e", "filename": "/a/b\t'`touch owned`.py\u001b]0;x\u0007", "line": 7}]},
 {"action": "free_requested", "addr": 4096, "size": 104857600, "stream": 0, "time_us": 1001, "frames": []},
 {"action": "free_completed", "addr": 4096, "size": 104857600, "stream": 0, "time_us": 1002, "frames": []}]]}
END_JSON
evil=$(printf 'x\033[31m\033]0;owned\007\b\r\302\233m`touch owned`%s' "';system(\"touch owned\")")
cp evil.json "$evil.json"
for kind in timeline categories sites; do
    run plot --kind $kind "$evil.json" --color site --term dumb
    exits 0
    check 'steers no terminal' clean .run/out
    check 'has no control sequence of one byte' lacks "$(printf '\302\233')" .run/out
    check 'runs nothing' test ! -e owned
    run plot --kind $kind evil.json --color site --title "$evil" --term sixel
    exits 0
    $has_sixel && check 'has one beginning and one end' test "$(tr -cd '\033' <.run/out | wc -c)" -eq 2
done

# Output of gnuplot is not trusted either.
mkdir bin
real=$(command -v gnuplot)
cat >bin/gnuplot <<'END_SCRIPT'
#!/bin/sh
printf 'a \033[31mred\033[0m picture\n\n\033]0;title\007\n'
END_SCRIPT
chmod +x bin/gnuplot
PATH=$here/bin:$PATH run plot samples/leak.pickle.gz --term dumb
exits 0
out_has 'a \x1b[31mred\x1b[0m picture'
check 'steers no terminal' clean .run/out
PATH=$here/bin:$PATH run plot samples/leak.pickle.gz --term sixel
exits 5
no_out
err 'memsnap: what gnuplot drew is no sixel image'

# draws_sixel BYTES: gnuplot writes them, in the notation of printf, as a sixel image.
draws_sixel() {
    printf '%b' "$1" >drawn-bytes
    printf '#!/bin/sh\nexec cat %s/drawn-bytes\n' "$here" >bin/gnuplot
    PATH=$here/bin:$PATH run plot samples/leak.pickle.gz --term sixel
}

# gnuplot 6 moves the cursor to the top left before the image.
for drawn in '\033Pq~-~\033\\' '\033[H\033Pq~-~\033\\' '\033[H\033Pq~-~\033\\\n'; do
    draws_sixel "$drawn"
    exits 0
    no_err
    check "prints the image of $drawn alone" test "$(cat .run/out)" = "$(printf '\033Pq~-~\033\\')"
done
for drawn in '\033[H' '\033[H\033[H\033Pq~-~\033\\' '\033[2J\033Pq~-~\033\\' \
    '\033[1H\033Pq~-~\033\\' '\n\033[H\033Pq~-~\033\\' 'x\033[H\033Pq~-~\033\\' \
    '\033Pq~-~\033\\\033[H' '\033[H\033Pq~\033[H~\033\\' '\033Pq~-~\033\\\033[2J\033\\' \
    '\033Pq\033\\\033\\' '\033P\033\\' '\033P1;1\033\\'; do
    draws_sixel "$drawn"
    exits 5
    no_out
    err 'memsnap: what gnuplot drew is no sixel image'
done
# shellcheck disable=SC2016 # for the script
printf '#!/bin/sh\ncase "$*" in *status*) exit 1 ;; esac\nexec %s "$@"\n' "$real" >bin/gnuplot
PATH=$here/bin:$PATH run plot samples/leak.pickle.gz --term sixel
exits 0
err_has 'no sixel support'
check 'draws characters then' clean .run/out
out_has 'peak '

[ -n "${PYTHON3-}" ] || finish
on_terminal 90 '\x1b[?62;4;22c' "$MEMSNAP" plot samples/train-loop.pickle.gz
exits 0
out_has '(asked)'
if $has_sixel; then
    out_has "${escape}Pq"
    out_has '"1;1;900;560'
fi
on_terminal 90 '\x1b[?62;14;22c' "$MEMSNAP" plot samples/train-loop.pickle.gz
exits 0
out_has '(asked)'
out_has_not "$escape"
check 'takes the width of the terminal' test "$(widest)" -gt 70 -a "$(widest)" -le 97
on_terminal 90 '' "$MEMSNAP" plot samples/train-loop.pickle.gz # never answers
exits 0
out_has '****'
on_terminal 90 '\x1b[?4' "$MEMSNAP" plot samples/train-loop.pickle.gz # never ends
exits 0
out_has '****'
# shellcheck disable=SC2016 # for the shell on the terminal
on_terminal 90 '' /bin/sh -c 'stty -g >before; "$MEMSNAP" plot samples/leak.pickle.gz; stty -g >after'
check 'leaves the terminal as it was' cmp before after
for quiet in '--term dumb' '--out a.svg' '--script s'; do
    # shellcheck disable=SC2086 # a list of words
    on_terminal 90 '\x1b[?62;4c' "$MEMSNAP" plot samples/leak.pickle.gz $quiet
    exits 0
    out_has_not '(asked)'
done
# shellcheck disable=SC2016 # for the shell on the terminal
on_terminal 90 '\x1b[?62;4c' /bin/sh -c '"$MEMSNAP" plot samples/leak.pickle.gz --term auto >drawn'
exits 0
out_has_not '(asked)'
check 'is characters in a file' clean drawn
TERM=dumb
on_terminal 90 '\x1b[?62;4c' "$MEMSNAP" plot samples/leak.pickle.gz
out_has_not '(asked)'

finish
