
# text-shard.gp: a line of characters for each strategy's largest batch, or a bar for each strategy's peak.
set datafile separator tab
set datafile commentschars '#'
set lmargin 8
set rmargin 2
set border 3
set tics nomirror out
set format x '%.10g'
set yrange [0:y_top]
set title plot_title
if (is_region) {
    if (is_logarithmic) { set logscale x 2 }
    edge(a, b) = is_logarithmic ? sqrt(a * b) : (a + b) / 2.0
    set xrange [edge(before_first, first):edge(last, after_last)]
    if (!is_logarithmic && last - first < 6) { set xtics 1 } # whole numbers
    set xlabel 'ranks; times the recorded batch; ' . best_text
    set key below Left reverse samplen 1
    plot for [i = 1:curves] 'curves.tsv' index i - 1 using 1:2 with linespoints linetype i pointtype i title ' ' . name[i]
} else {
    set xrange [0.4:bars + 0.6]
    unset xtics
    unset key
    set xlabel y_label
    set boxwidth 0.7
    set bmargin 4
    if (has_curves) {
        plot 'curves.tsv' using 1:2 with lines linetype 1, \
            (gpu > 0 ? gpu : NaN) with lines linetype 2, \
            'points.tsv' using 1:(0):(name[int($1)] . (strlen(under[int($1)]) ? '+c' : '')) with labels offset 0, -1, \
            'points.tsv' using 1:2:(unit[int($1)]) with labels offset 0, 1
    } else {
        plot 'points.tsv' using 1:2 with boxes linetype 1, \
            (gpu > 0 ? gpu : NaN) with lines linetype 2, \
            'points.tsv' using 1:(0):(name[int($1)] . (strlen(under[int($1)]) ? '+c' : '')) with labels offset 0, -1, \
            'points.tsv' using 1:2:(brief[int($1)]) with labels offset 0, 1
    }
}
