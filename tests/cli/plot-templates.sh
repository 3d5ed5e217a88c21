#!/bin/sh
# memsnap plot: where it finds its templates, installed, moved, copied alone and not installed at all.
. "${srcdir:=.}/tests/cli/lib.sh"
templates=$(cd "$cli/../../share/plots" && pwd)
unset MEMSNAP_PLOTS HOME XDG_CONFIG_HOME

# writes_script: what it drew, and whether with a template that has a mark.
writes_script() {
    rm -rf s
    run plot samples/leak.pickle.gz --script s
    exits 0
    no_err
}

# marked FOLDER: templates in a new folder that say which it is.
marked() {
    mkdir -p "$1"
    cp "$templates"/*.gp "$1"
    echo "# from $1" >>"$1/timeline.gp"
}

uses() {
    writes_script
    check "uses $1" grep -qx "# from $1" s/plot.gp
}

uses_own() {
    writes_script
    check 'uses those of the source tree' cmp wanted/plot.gp s/plot.gp
}

MEMSNAP_PLOTS=$templates run plot samples/leak.pickle.gz --script wanted
exits 0
marked variable
marked home/.config/memsnap/plots
marked moved/share/memsnap/plots
mkdir moved/bin alone
cp "$MEMSNAP" moved/bin/memsnap
cp "$MEMSNAP" alone/memsnap
chmod +x moved/bin/memsnap alone/memsnap

if [ -e "${INSTALLED_PLOTS-}" ]; then
    echo "skipped: programs that find no installed templates, for there are some in $INSTALLED_PLOTS"
else
    uses_own # in the build folder
    if command -v gnuplot >/dev/null; then
        run plot samples/leak.pickle.gz --out picture.svg
        exits 0
        no_err
        check 'draws a picture' grep -q '<svg' picture.svg
    fi
    MEMSNAP=$here/alone/memsnap
    uses_own
    for kind in timeline categories phases segments sites flame report; do
        MEMSNAP_PLOTS=$templates run plot --kind $kind samples/train-loop.pickle.gz --script wanted
        run plot --kind $kind samples/train-loop.pickle.gz --script s
        exits 0
        check "has all templates of $kind" cmp wanted/plot.gp s/plot.gp
    done
    MEMSNAP_PLOTS=$templates run plot samples/leak.pickle.gz --script wanted
    MEMSNAP=$here/moved/bin/memsnap
    uses moved/share/memsnap/plots
    ln -s moved/bin/memsnap link
    MEMSNAP=$here/link
    uses moved/share/memsnap/plots # beside the program itself, not beside a link to it
    MEMSNAP=$here/moved/bin/memsnap
    if [ "$(id -u)" = 0 ]; then
        chown -R 12345 moved/share
        uses_own # those of a stranger are not run
        chown -R 0 moved/share
    fi
fi
MEMSNAP=$here/moved/bin/memsnap
HOME=$here/home
export HOME
uses home/.config/memsnap/plots
MEMSNAP_PLOTS=$here/variable
export MEMSNAP_PLOTS
uses variable
finish
