
# phases.gp: one bar per phase, as high as its peak, with the memory live at its end inside it; steps in
# a strip.
set xrange [0.5:bars + 0.5]
set yrange [0:y_top * 1.05]
set border 3 linecolor rgb '#666666'
set ytics nomirror out textcolor rgb '#444444'
set format y '%.10g'
set grid ytics linecolor rgb '#DDDDDD' dashtype 3
set ylabel y_label textcolor rgb '#444444'
set xlabel 'phases, in their order' offset 0, -1 + label_lift textcolor rgb '#444444'
unset xtics
set key at screen right + 0.012, screen top left top Left reverse samplen 2 spacing key_spacing
strip_low = y_top * 1.012
strip_high = y_top * 1.05
half = bar_width / 2.0
plot \
    'phase-bars.tsv' using 1:(0):($1 - half):($1 + half):(0):2:4 with boxxyerror linecolor rgb variable notitle, \
    'phase-bars.tsv' using 1:(0):($1 - half):($1 + half):(0):3:5 with boxxyerror linecolor rgb variable notitle, \
    'phase-bars.tsv' using (strcol(7) eq ' ' ? NaN : $1):2:7 with labels center offset 0, 1.7 font ',10' notitle, \
    'phase-bars.tsv' using (strcol(8) eq ' ' ? NaN : $1):2:8 with labels center offset 0, 0.7 font ',9' textcolor rgb '#666666' notitle, \
    'phase-bars.tsv' using (strcol(6) eq ' ' ? NaN : $1):(0):6 with labels center offset 0, -0.8 font ',10' notitle, \
    'phase-steps.tsv' using 1:(strip_low):1:2:(strip_low):(strip_high):3 \
        with boxxyerror linecolor rgb variable notitle, \
    'phase-steps.tsv' using (strcol(4) eq ' ' ? NaN : ($1 + $2) / 2):((strip_low + strip_high) / 2):4 \
        with labels center font ',10' notitle, \
    for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i]
