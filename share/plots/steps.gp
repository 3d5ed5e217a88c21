# steps.gp: two bars for each step, one before the other: active memory at its peak and at its end.
set xrange [0.5:x_last + 0.5]
set yrange [0:y_top]
set border 3 linecolor rgb '#666666'
set tics nomirror out textcolor rgb '#444444'
set format y '%.10g'
set grid ytics linecolor rgb '#DDDDDD' dashtype 3
set ylabel y_label textcolor rgb '#444444'
set xlabel 'step' textcolor rgb '#444444'
set key at screen right + 0.012, screen top left top Left reverse samplen 2 spacing key_spacing
half = bar_width / 2.0
plot \
    'ticks.tsv' using 1:(0):xticlabels(2) with points pointtype -2 notitle, \
    'bars.tsv' using 1:(0):($1 - half):($1 + half):(0):3:5 with boxxyerror linecolor rgb variable notitle, \
    'bars.tsv' using 1:(0):($1 - half):($1 + half):(0):2:4 with boxxyerror linecolor rgb variable notitle, \
    'bars.tsv' using (strcol(6) eq ' ' ? NaN : $1):3:6 \
        with labels center offset 0, 0.7 font ',10' notitle, \
    for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i]
