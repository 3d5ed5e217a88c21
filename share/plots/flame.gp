
# flame.gp: one box per frame, below its callers.
set xrange [0:x_top]
set yrange [y_rows:0]
set border 1 linecolor rgb '#666666'
set xtics nomirror out textcolor rgb '#444444'
set xtics offset 0, tic_lift
set format x '%.10g'
set xlabel x_label offset 0, label_lift textcolor rgb '#444444'
unset ytics
set key at screen right + 0.012, screen top left top Left reverse samplen 2 spacing key_spacing
plot \
    'frames.tsv' using ($1 / x_unit):3:($1 / x_unit):($2 / x_unit):3:($3 + 0.94):4 \
        with boxxyerror linecolor rgb variable notitle, \
    'labels.tsv' using ($1 / x_unit):2:3:4 with labels left font ',9' textcolor rgb variable notitle, \
    for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i]
