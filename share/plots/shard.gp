
# shard.gp: which strategy fits for how many ranks and how large a batch, or a bar or a curve for each strategy.
set border 3 linecolor rgb '#666666'
set tics nomirror out textcolor rgb '#444444'
set xtics offset 0, tic_lift
set format x '%.10g'
set yrange [0:y_top]
set key at screen 0.985, graph 1 right top Left reverse samplen 2 spacing key_spacing
if (is_region) {
    if (is_logarithmic) { set logscale x 2 }
    edge(a, b) = is_logarithmic ? sqrt(a * b) : (a + b) / 2.0
    set xrange [edge(before_first, first):edge(last, after_last)]
    set xlabel 'ranks' offset 0, label_lift textcolor rgb '#444444'
    set ylabel 'times the recorded batch' textcolor rgb '#444444'
    if (y_top < 12) { set ytics 1 } # whole numbers
    if (!is_logarithmic && last - first < 6) { set xtics 1 }
    if (best_left) {
        set label 5 best_text at best_x, best_y right offset -0.4, 0.9
    } else {
        set label 5 best_text at best_x, best_y left offset 0.4, 0.9
    }
    plot \
        'boxes.tsv' using 1:5:(edge($2, $1)):(edge($3, $4)):5:6:7 with boxxyerror linecolor rgb variable notitle, \
        'points.tsv' using 1:2 with points pointtype 7 pointsize 1 linecolor rgb '#222222' notitle, \
        for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i]
} else {
    set xrange [0.4:bars + 0.6]
    unset xtics
    set grid ytics linecolor rgb '#E6E6E6' dashtype 3
    set ylabel y_label textcolor rgb '#444444'
    if (has_curves) {
        plot \
            'boxes.tsv' using 1:2:3 with filledcurves closed linecolor rgb variable notitle, \
            'curves.tsv' using 1:2 with lines linewidth 0.5 linecolor rgb '#444444' notitle, \
            'points.tsv' using 3:2 with points pointtype 7 pointsize 0.6 linecolor rgb '#222222' notitle, \
            'points.tsv' using 1:2:(above[int($1)]):(fits[int($1)] ? 0x222222 : 0xCC0000) \
                with labels center offset 0, 2.9 textcolor rgb variable font ',10' notitle, \
            'points.tsv' using 1:2:(phase[int($1)]) with labels center offset 0, 1.8 font ',9' notitle, \
            'points.tsv' using 1:2:(unit[int($1)]) with labels center offset 0, 0.8 font ',9' notitle, \
            'points.tsv' using 1:(0):(name[int($1)]) with labels center offset 0, -0.9 notitle, \
            'points.tsv' using 1:(0):(under[int($1)]) with labels center offset 0, -2 textcolor rgb '#666666' font ',9' notitle, \
            (gpu > 0 ? gpu : NaN) with lines linewidth 1.5 dashtype 2 linecolor rgb '#CC0000' notitle, \
            for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i], \
            keyentry with lines linewidth 0.5 linecolor rgb '#444444' title 'a rank', \
            keyentry with lines linewidth 1.5 dashtype 2 linecolor rgb (gpu > 0 ? '#CC0000' : '#FFFFFF') \
                title (gpu > 0 ? 'the memory of a GPU' : '')
    } else {
        plot \
            'boxes.tsv' using (($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4:5 with boxxyerror linecolor rgb variable notitle, \
            'points.tsv' using 1:2:(above[int($1)]):(fits[int($1)] ? 0x222222 : 0xCC0000) \
                with labels center offset 0, 0.7 textcolor rgb variable font ',10' notitle, \
            'points.tsv' using 1:(0):(name[int($1)]) with labels center offset 0, -0.9 notitle, \
            'points.tsv' using 1:(0):(under[int($1)]) with labels center offset 0, -2 textcolor rgb '#666666' font ',9' notitle, \
            (gpu > 0 ? gpu : NaN) with lines linewidth 1.5 dashtype 2 linecolor rgb '#CC0000' notitle, \
            for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i], \
            keyentry with lines linewidth 1.5 dashtype 2 linecolor rgb (gpu > 0 ? '#CC0000' : '#FFFFFF') \
                title (gpu > 0 ? 'the memory of a GPU' : '')
    }
}
