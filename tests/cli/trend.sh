#!/bin/sh
# memsnap ranks --into, and memsnap trend. tests/accept/history.py has more.
. "${srcdir:=.}/tests/cli/lib.sh"

run trend --help
exits 0
golden help-trend.txt

run ranks --into runs.sqlite --run nightly-1 --commit 1f3c9a2 samples/train-loop.pickle.gz
if grep -q 'was built without SQLite' .run/err; then
    exits 2
    one_err_line
    echo 'skipped the rest: built without SQLite'
    finish
    exit
fi
exits 0
no_err
out_has 'peak of active memory: 295.43 MiB'
mkdir -p nightly-2/rank0 nightly-2/rank1
cp samples/train-loop.pickle.gz nightly-2/rank0/
cp samples/leak.pickle.gz nightly-2/rank1/
run ranks --into runs.sqlite nightly-2
exits 0
(cd nightly-2 && "$MEMSNAP" ranks --into ../runs.sqlite . >/dev/null)
run ranks --into runs.sqlite --run main --format csv -o ranks.csv nightly-2
exits 0
no_out
check 'also writes the report' grep -q '^rank' ranks.csv

# The time differs from run to run.
timeless() {
    sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}/2026-11-22 12:00/; s/"time":[0-9]+/"time":0/g; s/,[0-9]{10},/,0,/' \
        .run/out >.run/timeless
    mv .run/timeless .run/out
}
COLUMNS=100 run trend runs.sqlite
exits 0
no_err
timeless
golden trend.txt
run trend --format json --metric category:activation --last 2 runs.sqlite
exits 0
timeless
golden trend.json
run trend --format csv --rank 0 --run 'nightly*' runs.sqlite
exits 0
timeless
golden trend.csv
run trend --metric ooms -o ooms.txt runs.sqlite
exits 0
no_out
check 'writes a file' grep -q '^ooms of the highest rank, events: 4 runs' ooms.txt

run trend
exits 2
run trend --metric peak runs.sqlite
exits 2
one_err_line
err_has "invalid metric 'peak' (expected peak_active,"
run trend absent.sqlite
exits 5
err 'memsnap: absent.sqlite: No such file or directory'
run trend --run 'x*' runs.sqlite
exits 3
err 'memsnap: runs.sqlite: the history has no such run'
run trend samples/leak.pickle.gz
exits 3
one_err_line
run ranks --run name samples/leak.pickle.gz
exits 2
err 'memsnap: ranks: --run needs --into FILE'
run ranks --into no/such/folder.sqlite samples/leak.pickle.gz
exits 5
one_err_line
no_out

# check --trend: judged from the fourth run on
rm runs.sqlite
for name in one two; do
    run ranks --into runs.sqlite --run $name samples/train-loop.pickle.gz
done
run check --trend runs.sqlite --max-jump 5%
exits 0
no_err
golden check-trend-few.txt
run check --trend runs.sqlite --max-jump 5% --not-judged error
exits 2
run ranks --into runs.sqlite --run three samples/train-loop.pickle.gz
run ranks --into runs.sqlite --run four samples/train-loop.pickle.gz
run check --trend runs.sqlite --max-jump 0
exits 0
run ranks --into runs.sqlite --run five --commit 1f3c9a2 samples/leak.pickle.gz
run check --trend runs.sqlite --max-jump 5%
exits 1
no_err
golden check-trend.txt
run check --trend runs.sqlite --max-jump 5% --format json
exits 1
golden check-trend.json
echo '{"schema": "memsnap.policy/1", "max-jump": "200MiB", "max-peak": "1KiB"}' >policy.json
run check --trend runs.sqlite --policy policy.json
exits 0
run check --trend runs.sqlite --policy policy.json --max-jump 100MiB
exits 1
run check --trend runs.sqlite --max-jump 43.8% --last 3
exits 1
run check --trend runs.sqlite --max-jump 44%
exits 0
run check --trend runs.sqlite --max-jump 5% --metric category:gradient --format junit
exits 0
out_has 'failures="0"'
run check --trend runs.sqlite --max-jump 5% --metric ooms
exits 2
err 'memsnap: runs.sqlite: --max-jump compares bytes, which ooms are not'
run check --trend runs.sqlite --max-peak 1GiB
exits 2
err 'memsnap: runs.sqlite: --trend needs a rule for histories: --max-jump 5%'
run check --max-jump 5% samples/leak.pickle.gz
exits 2
err 'memsnap: check: max-jump needs --trend HISTORY'
run check --last 3 --max-peak 1GiB samples/leak.pickle.gz
exits 2
run check --trend runs.sqlite --max-jump 5% samples/leak.pickle.gz
exits 2
run check --trend samples/leak.pickle.gz --max-jump 5%
exits 3
one_err_line
finish
