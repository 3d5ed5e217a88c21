# trend.gp: a square for each run, the line through them, and the median of the runs before.
set xrange [0.5:x_last + 0.5]
set yrange [y_from:y_top]
set border 3 linecolor rgb '#666666'
set tics nomirror out textcolor rgb '#444444'
set xtics rotate by 40 right offset 0, tic_lift
set format y '%.10g'
set grid ytics linecolor rgb '#E6E6E6' dashtype 3
set ylabel y_label textcolor rgb '#444444'
unset key
plot \
    'ticks.tsv' using 1:(y_from):xticlabels(2) with points pointtype -2, \
    'medians.tsv' using 1:2 with lines linewidth 2.5 linecolor rgb '#B0B0B0', \
    'values.tsv' using 1:2 with lines linewidth 1.4 linecolor rgb '#0072B2', \
    'points.tsv' using 1:2:3:4:5:6:7 with boxxyerror linecolor rgb variable, \
    'labels.tsv' using 1:2:4:3 with labels center offset 0, 0.9 textcolor rgb variable
