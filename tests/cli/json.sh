#!/bin/sh
# The JSON report: one valid line a file, whose parts add up, with the figures of the text report's source.
. "${srcdir:=.}/tests/cli/lib.sh"

if [ -z "${PYTHON3-}" ]; then
    echo 'skipped: there is no Python'
    exit 77
fi
corpus=${MEMSNAP_CORPUS-}

# Each line of the file `reports`, all at once: Python takes longer to start than a report to check.
cat >adds_up.py <<'END'
import json

def check(report):
    assert report["schema"] == "memsnap.analyze/1", report["schema"]
    kinds = {"profile": "profiler-trace", "timeline": "memory-timeline"}
    kind = next((kinds[key] for key in kinds if key in report), "allocator-snapshot")
    assert report["input"]["format"] == kind
    for device in report["devices"]:
        peak = device.get("at", {}).get("active_bytes", device["active"]["peak_bytes"])
        for part in ("categories", "sites"):
            rows = device[part]
            assert sum(row["bytes"] for row in rows) == peak, (device["device"], part, peak)
        # call sites, what has none, remainders; each largest first
        places = [2 if row.get("remainder") else 0 if row["frames"] else 1 for row in device["sites"]]
        assert places == sorted(places), places
        for each in 0, 1:
            sizes = [row["bytes"] for row, of in zip(device["sites"], places) if of == each]
            assert sizes == sorted(sizes, reverse=True), device["sites"]
        assert sum(device["trace"]["by_action"].values()) == device["trace"]["events"]
        if kind != "allocator-snapshot":
            assert "fragmentation" not in device
            continue
        state, fragmentation = device["state"], device["fragmentation"]
        for name in "segments", "reserved_bytes", "allocated_bytes", "active_bytes", "rounding_bytes":
            assert sum(pool[name] for pool in fragmentation["pools"]) == state[name], name
        assert sum(pool["inactive_split_bytes"] + pool["releasable_bytes"]
                   for pool in fragmentation["pools"]) == state["inactive_bytes"]
        for pool in fragmentation["pools"]:
            graphs = pool["releasable_bytes"] if pool["pool_id"] != [0, 0] else 0
            assert pool["releasable_after_graphs_bytes"] == graphs
        assert sum(row["pinned_bytes"] for row in fragmentation["pinned"]) <= \
            fragmentation["pinned_total"]["pinned_bytes"] <= state["inactive_bytes"]
        moment = fragmentation.get("at_moment")
        if moment:
            at = device.get("at", {}).get("reserved_bytes", device["reserved"]["at_active_peak_bytes"])
            assert sum(pool["reserved_bytes"] for pool in moment["pools"]) == at
            assert moment["active_bytes"] - moment["rounding_bytes"] == peak
            assert moment["active_bytes"] + moment["inactive_split_bytes"] + moment["releasable_bytes"] == at
        for oom in device["ooms"]:
            assert sum(row["bytes"] for row in oom["categories"]) == oom["active_bytes"]
            assert oom["largest_hole_bytes"] <= oom["pool_inactive_bytes"]
            assert oom["pool_inactive_bytes"] + oom["elsewhere_bytes"] == oom["inactive_bytes"]
            assert oom["active_bytes"] + oom["rounding_bytes"] + oom["inactive_bytes"] == oom["reserved_bytes"]
        assert state["active_bytes"] - state["requested_bytes"] == state["rounding_bytes"]
        assert state["active_bytes"] + state["inactive_bytes"] <= state["reserved_bytes"] or \
            report["warnings"]

for number, line in enumerate(open("reports", encoding="utf-8")):
    report = json.loads(line)
    try:
        check(report)
    except Exception:
        print(f"report {number}, of {report['input']['path']}")
        raise
END

# json ARGUMENT...
json() {
    run analyze --format json "$@"
    exits 0
    no_err
    cat .run/out >>reports
}

for sample in samples/*.gz samples/*.pickle; do
    case $sample in
    *.layers.* | *.operators.* | *.stats.* | *.pprof.*) continue ;; # layers.sh, stats.sh, pprof.sh
    *.summary.*) continue ;;                # ranks.sh
    esac
    json "$sample"
    check 'is one line' test "$(wc -l <.run/out)" -eq 1
    json --top 0 "$sample"
    json --top 1 "$sample"
    json --at end "$sample"
done
json --at 100 samples/leak.pickle.gz
json --range 100:500 samples/leak.pickle.gz
json --device 1 samples/two-devices.pickle.gz
out_has_not '"device":0'
json samples/leak.pickle.gz samples/oom.pickle.gz
check 'is a line a file' test "$(wc -l <.run/out)" -eq 2
json - <samples/leak.pickle.gz
out_has '"path":"-"'
out_has '"compression":"gzip"'
cat >every_one.py <<'END'
"""Every allocation is listed once, and those live at the peak are the report's categories."""
import collections, json
for device in json.load(open(".run/out", encoding="utf-8"))["devices"]:
    rows, peak = device["allocations"], device["active"]["peak_event"]
    births = [row["born_event"] for row in rows]
    assert births == sorted(births), "not by birth"
    in_trace = sum(1 for birth in births if birth >= 0)
    assert in_trace == device["trace"]["by_action"].get("alloc", 0), in_trace
    assert {row["confidence"] for row in rows} <= {"high", "medium", "low"}
    live = collections.Counter()
    for row in rows:
        if row["born_event"] <= peak and (row["freed_event"] < 0 or row["freed_event"] > peak):
            live[row["category"]] += row["bytes"]
    assert live == {row["name"]: row["bytes"] for row in device["categories"]}, live
END
for sample in train-loop leak oom two-devices ring-overflow; do
    json --allocations samples/$sample.pickle.gz
    check 'lists every allocation' "$PYTHON3" every_one.py
done
run analyze --allocations samples/leak.pickle.gz
exits 2
err_has 'memsnap: analyze: --allocations needs --format json'

json --top 1 samples/history-off.pickle
check 'leaves absent facts out' lacks time_us .run/out
cp samples/history-off.pickle "$(printf 'bad\377"\\\033name')"
json bad*
out_has "$(printf '"path":"bad\357\277\275\\"\\\\\\u001bname"')"

if [ -d "$corpus" ]; then
    for capture in "$corpus"/*.pickle; do
        json "$capture"
    done
else
    echo 'without the real captures, which are not at hand'
fi
last='memsnap analyze --format json'
check 'is valid and adds up' "$PYTHON3" adds_up.py

finish
