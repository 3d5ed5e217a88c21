#!/bin/sh
# Memory timelines of torch.profiler, in both forms.
. "${srcdir:=.}/tests/cli/lib.sh"

cp samples/training.timeline.json.gz samples/training.timeline.raw.json.gz .
run analyze training.timeline.raw.json.gz
exits 0
no_err
golden memory-timeline.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
run analyze --format json training.timeline.raw.json.gz
exits 0
out_has '"format":"memory-timeline"'
out_has '"timeline":{"has_allocations":true,"preexisting_count":20,"preexisting_bytes":7340960,'
out_has '"active":{"baseline_bytes":0,"peak_bytes":76021664,'
out_has '{"name":"parameter","bytes":7340960,"count":'
out_has_not '"reserved"'
run analyze training.timeline.json.gz
exits 0
golden memory-timeline-sums.txt
run analyze --format json training.timeline.json.gz
out_has '"timeline":{"has_allocations":false,"preexisting_bytes":7340960,'
out_has '"active":{"baseline_bytes":0,"peak_bytes":76021664,'

# PyTorch 2.1 writes the sums as 8.0. Both forms have the same peak.
run analyze --format json samples/torch-2.1.timeline.json.gz
exits 0
peak=$(grep -o '"peak_bytes":[0-9]*' .run/out | head -n 1)
run analyze --format json samples/torch-2.1.timeline.raw.json.gz
exits 0
out_has "\"active\":{\"baseline_bytes\":0,$peak,"

# Of two blocks of one size, the later one in the category of the free ends. A new version in the same
# category changes nothing.
cat >raw.json <<'END'
[[-1, 1, 976, 0], [-1, 1, 24, 7],
 [5000, 2, 300, 4], [6000, 2, 300, 3], [6000, 3, -976, 0], [6000, 3, 976, 0],
 [7000, 3, -300, 4], [7000, 3, 300, 5], [8000, 4, -300, 3], [9999, 4, -24, 7]]
END
run analyze --units bytes raw.json
exits 0
out_has 'of one device, with 1,000 B from before the'
out_has 'Device 0: peak 1,600 B'
out_has 'end   1,276 B'
out_has '<size> 976 B'
run export --table events raw.json
exits 0
cut -d, -f 3,5,7,15 .run/out >rows
cat >wanted <<'END'
action,size,time_us,category
alloc,976,5,parameter
alloc,24,5,unknown
alloc,300,5,activation
alloc,300,6,temporary
free_completed,300,7,activation
alloc,300,7,gradient
free_completed,300,8,temporary
free_completed,24,9,unknown
END
check 'has a row for each change' diff -u wanted rows

# Frees that no allocation fits.
echo '[[1000, 2, 64, 4], [2000, 4, -64, 5], [3000, 4, -32, 5], [4000, 2, 8, 0]]' >odd.json
run analyze --units bytes odd.json
exits 0
out_has 'peak      96 B'
out_has 'baseline  32 B'
out_has 'end        8 B'
out_has '1 free of a category that has no allocation of that size'
out_has '1 free of memory that the file does not show as allocated: all curves'

# Sums: what shrinks and what grows.
echo '[[7, 7, 8, 9], [[0,100,0,0,0,0,0,0,0], [0,100,0,0,0,50,0,0,8], [0,100,0,0,0,20,30,0,0], [0,0,0,0,0,0,0,0,0]]]' >sums.json
run analyze --units bytes sums.json
exits 0
out_has 'of one device, with 100 B from before the'
out_has 'Device 0: peak 158 B'
out_has 'end     0 B'
echo '[[], []]' >empty.json
run analyze empty.json
exits 0
out_has 'nothing was allocated'

# bad TEXT MESSAGE
bad() {
    printf '%s' "$1" >bad.json
    run analyze bad.json
    exits 3
    no_out
    err "memsnap: bad.json: $2"
}
bad '[[1, 2, 3]]' 'byte 1: expected [time, action, bytes, category], or times and sizes'
bad '[[1, 2, 3, 4], [1, 2, 3]]' 'byte 15: expected [time, action, bytes, category], found 3 numbers'
bad '[[1, 2, 3, 4], [1, 2, 3, 4, 5]]' 'byte 15: expected [time, action, bytes, category], found more numbers'
bad '[[1, 5, 3, 4]]' 'byte 1: expected an action from 1 to 4 in the row'
bad '[[1, 2, 3, 8]]' 'byte 1: expected a category from 0 to 7 in the row'
bad '[[1, 2, 3.5, 4]]' 'byte 8: expected a time (a whole number), found a number that is not whole'
bad '[[1, 2, 3, 4], [1, 2, 3, 4]' "byte 27: expected ',' or ']', found the end of the file"
bad '[[1, 2, 9000000000000000000, 4]]' 'byte 8: expected a time (a whole number), found one out of range'
bad '[[1, 2], [[0, 1]]]' 'byte 10: expected 9 sizes for each time, found 2'
bad '[[1], [[0,0,0,0,0,0,0,0,0], [0,0,0,0,0,0,0,0,0]]]' 'byte 28: more sizes than times (1)'
bad '[[1, 2], [[0,0,0,0,0,0,0,0,0]]]' "byte 30: expected sizes for each of the times, found ']'"

# Other commands.
run plot --kind categories -o a.svg training.timeline.raw.json.gz
exits 0
no_err
check 'has areas' grep -q 'optimizer state' a.svg
check 'has no reserved memory' lacks reserved a.svg
run plot --kind segments -o b.svg training.timeline.raw.json.gz
exits 2
err_has '--kind segments does not support a memory timeline of torch.profiler'
run diff --units bytes raw.json odd.json
exits 0
out_has '-1,504 B  1,600 B  96 B  active then'
out_has_not 'reserved then'
run check --max-peak 1600B raw.json
exits 0
run check --max-peak 1599B raw.json
exits 1
for command in suggest shard; do
    run $command raw.json
    exits 3
    err 'memsnap: raw.json: expected a layer trace, an allocator snapshot or a profiler trace, not a memory timeline of torch.profiler'
done
run plot --kind pareto -o a.svg raw.json
exits 2
err_has 'pareto does not support a memory timeline'
run replay raw.json
exits 3
err 'memsnap: raw.json: cannot be replayed: the file has no addresses'
printf '<html>\n<head><title>GPU Memory Timeline HTML</title></head>' >page.html
run analyze page.html
exits 3
err_has "a picture of torch.profiler's memory timeline: export_memory_timeline() writes what memsnap reads to a name that ends in .raw.json.gz"
finish
