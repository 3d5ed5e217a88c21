#!/bin/sh
# Tables of operators that torch.profiler prints, alone and in a log.
. "${srcdir:=.}/tests/cli/lib.sh"

cp samples/training.averages.txt .
run analyze --top 8 training.averages.txt
exits 0
no_err
golden operators-table.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
gzip -c training.averages.txt >averages.txt.gz
run analyze --top 0 averages.txt.gz
exits 0
out_has_not 'and .* more'

# A plain reading of the table: every size and time, rounded as it is.
if [ -n "${PYTHON3-}" ]; then
    run analyze --format json training.averages.txt
    exits 0
    cat >compare.py <<'END'
import json, re, sys
lines = open(sys.argv[1]).read().split("\n")
titles = re.split(r" {2,}", lines[1].strip())
units = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "us": 10**3, "ms": 10**6, "s": 10**9}
def number(cell):
    found = re.fullmatch(r"(-?[\d.]+) ?([a-zA-Z]+)", cell)
    return round(float(found[1]) * units[found[2]])
want = {"Self CPU": "self_cpu_ns", "CPU total": "cpu_ns", "Self CPU Mem": "self_cpu_bytes", "CPU Mem": "cpu_bytes",
        "Self CUDA Mem": "self_device_bytes", "CUDA Mem": "device_bytes"}
table = json.load(open(sys.argv[2]))["operator_tables"][0]
got = {row["name"]: row for row in table["operators"]}
rows = [re.split(r" {2,}", line.strip()) for line in lines[3:lines.index(lines[0], 3)]]
assert len(rows) == len(got) == 20
for row in rows:
    for title, cell in zip(titles, row):
        if title in want:
            assert got[row[0]][want[title]] == number(cell), (row[0], title, cell)
    assert got[row[0]]["calls"] == int(row[titles.index("# of Calls")])
highest = [row["self_device_bytes"] for row in table["operators"]]
assert table["sorted_by"] == "self_device_bytes" and highest == sorted(highest, reverse=True)
END
    check 'reads what the table says' "$PYTHON3" compare.py training.averages.txt .run/out
fi

run plot --out picture.svg training.averages.txt
exits 2
err "memsnap: training.averages.txt: there is no picture of a table of torch.profiler's operators: export_chrome_trace() writes when memory was in use"

# In a log, between words and another table, which has no columns of memory.
{
    echo 'epoch 1 done'
    cat training.averages.txt
    cat <<'END'
------  ------------  ------------  ------------  
  Name    Self CPU %      Self CPU    # of Calls  
------  ------------  ------------  ------------  
   mul       100.00%       1.500ms             3  
------  ------------  ------------  ------------  
Self CPU time total: 4.000ms
epoch 2 done
END
} >train.log
run analyze train.log
exits 0
no_err
out_has 'Operators, as torch.profiler summed them up, table at line 2'
out_has 'Operators, as torch.profiler summed them up, table at line 27'
out_has 'mul            1.500 ms      3'
out_has '2.500 ms of CPU time'
out_has 'The table has no memory: profile(profile_memory=True) records it.'

# A table without operators: torch prints one if its limits leave none.
sed '4,/^---/{/^---/!d}' training.averages.txt >empty.txt
run analyze empty.txt
exits 0
no_err
run analyze --format json empty.txt
exits 0
out_has '"operators":[]'

# bad SED ERROR
bad() {
    sed "$1" training.averages.txt >bad.txt
    run analyze bad.txt
    exits 3
    no_out
    err "memsnap: bad.txt: $2"
}
bad '4s/us/xs/' "line 4: expected a time such as '1.250ms', found '$(sed -n '4s/us/xs/; 4s/.*[^0-9.]\([0-9.]*xs\).*/\1/p' training.averages.txt)'"
bad '2s/# of Calls/Happiness /' "line 2: expected the title of a column of torch.profiler, found 'Happiness'"
bad '10,$d' 'line 1: the table that begins here is cut off'
finish
