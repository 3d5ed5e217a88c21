#!/bin/sh
# The captures that real programs left: what each shows, memsnap says, at the line of the program where it is made.
. "${srcdir:=.}/tests/cli/lib.sh"

# says SAMPLE TEXT...: the report has each text, on one line or across several. $options: more options.
options=
says() {
    run analyze --top 3 $options "samples/recorded/$1.pickle.gz"
    exits 0
    no_err
    tr -s ' \n' ' ' <.run/out >.run/joined
    shift
    for text in "$@"; do
        check "the report has: $text" grep -qF -e "$text" .run/joined
    done
}

# leak_of PROGRAM: the line that the program marks as the source of its leak, as FILE:LINE.
leak_of() {
    awk -v name="$1.py" '/# the leak$/ { print name ":" NR }' "samples/programs/$1.py"
}

says resnet50 'activation'
says resnet50-kept-gradients '161 gradients (97.49 MiB) stay allocated during the next forward pass'

# Variables of the script hold the results, so that the backward pass frees little.
for sample in plain-script plain-updates; do
    says "$sample" '20.02 MiB 33.8% 7 activation' 'forward (inferred)' 'optimizer_step'
    out_has_not 'Memory grows'
done

says leak-losses 'at least 138.19 MiB: Memory grows by 27.64 MiB a step, probably because a loss is stored with its autograd graph at blocks.py:73 next_token_loss'
says leak-outputs 'up to 80.00 MiB: Memory grows by 16.00 MiB a step, the largest part at blocks.py:69 forward'
says leak-cycle "Memory grows by 8.00 MiB a step, the largest part at $(leak_of leak_cycle) __init__"
says leak-hooks "Memory grows by 8.00 MiB a step, the largest part at $(leak_of leak_hooks) <module>"
for sample in resnet50 decoder gan unet-ema experts truncated-bptt distillation moco offload step-in-backward; do
    run analyze "samples/recorded/$sample.pickle.gz"
    out_has_not 'Memory grows'
done

says oom-batch 'a true shortage: '

# The story of the README: a run out of memory, its plan, and the run with the plan, which peaks as predicted.
says oom-long 'a true shortage: '
run suggest --budget 1.6GiB --format json samples/models/oom-long.layers.json.gz
exits 0
check 'the plan is the one that the program applies' cmp -s .run/out samples/programs/oom_mended.plan.json
out_has '"total_peak_bytes":1790600704,'
run check --no-oom --max-peak 1790600704 samples/recorded/oom-mended.pickle.gz
exits 0
run check --max-peak 1700MiB samples/recorded/oom-mended.pickle.gz
exits 1

# Gradients pile up in the backward pass: the least of both is not where activations are least.
run suggest --budget least --format json samples/models/experts.layers.json.gz
exits 0
total=$(sed 's/.*"total_peak_bytes":\([0-9]*\).*/\1/' .run/out)
check 'the least total is below that of the least activations' [ "$total" -lt 1530000000 ]

# What the plans are compared with has totals, too.
run suggest --format json samples/models/llama.layers.json.gz
exits 0
out_has '"name":"none","segments":0,"peak_bytes":8052061184,"total_peak_bytes":8471609344,"extra_time_share":0'
out_has '"no_checkpoint_total_peak_bytes":8471609344'
run suggest --checkpoints 4 --format json samples/models/llama.layers.json.gz
exits 0
out_has '"peak_bytes":6843290624,"total_peak_bytes":7262838784'

options='--gpu-memory 4GiB'
says oom-other-process "2.69 GiB of the device's 4.00 GiB are held by other processes"
options=
says oom-limit 'a memory limit on this process refused it'
says oom-fragmentation 'fragmentation: 202.00 MiB free on the device and 720.00 MiB unused' \
    '40 blocks of oom_fragmentation.py:16 answer, 80.00 MiB in all, keep 720.00 MiB of segments' \
    'or copy them to the CPU; expandable_segments:True would not help'
check 'the report does not advise what would not help' sh -c "! grep -q 'next: set PYTORCH' .run/joined"
says oom-other-stream '372.00 MiB lie in the default pool of stream 0x555555550100'
says oom-graph-pools '428.00 MiB lie in 4 private pools of CUDA graphs'

# The replay says what the same program reserved when it ran with expandable segments.
says segments-fixed '24.00 MiB of reserved memory' 'reserves 240.00 MiB instead of 264.00 MiB'
run replay --alloc-conf expandable_segments:True --format csv samples/recorded/segments-fixed.pickle.gz
out_has 'expandable_segments:True,false,251658240,'
run analyze --format json samples/recorded/segments-expandable.pickle.gz
out_has '"peak_bytes":251658240'
run analyze samples/recorded/segments-expandable.pickle.gz
out_has_not 'of reserved memory:'
says two-gpus 'Device 0: ' 'Device 1: '
says fsdp2 '39.01 MiB 16.3% 13 communication'
says splatting '12.60 MiB 5.7% 10 optimizer_state'
says hook-updates '13.75 MiB 16.4% 42 optimizer_state'
says equilibrium '60.00 MiB 45.2% 9 autograd_detail'
says sharpness '39.21 MiB 28.5% 46 activation'
says langevin 'the peak would be about 7.31 MiB lower'
says gaussian-process '171.67 MiB 50.0% 11 activation'
says prefetch '21.00 MiB 21.2% 14 input'
out_has_not 'Memory grows'
says replay '11.06 MiB 15.0% 11 input'
says ddp-world '42.83 MiB 18.1% 3 communication'
says ddp-no-sync 'hold 20.02 MiB, a second copy of the gradients' 'call zero_grad(set_to_none=False), too'
says federated 'federated.py:39 <dictcomp> by deepcopy() or clone(), holds 12.89 MiB'
says int8-weights '5.03 MiB 11.9% 51 parameter' '1.50 MiB 3.5% 2 kv_cache'
says static-cache '10.00 MiB 16.0% 16 kv_cache' 'those of earlier requests are still there: at the end it holds 10.00 MiB'
says thawed '126.04 MiB 73.9%'
out_has_not 'Growth:'

finish
