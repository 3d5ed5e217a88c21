
# fsdp.gp: one stacked bar per row, a part for each kind of memory. Names are left of 0, indented as a
# tree.
set xrange [x_low:x_top]
set yrange [rows + 0.5:0.5]
power(step) = 10 ** floor(log10(step))
round_step(step) = power(step) * (step / power(step) < 1.5 ? 1 : step / power(step) < 3.5 ? 2 : 5)
unset border
unset ytics
set xtics 0, round_step(x_top / 8) nomirror out textcolor rgb '#444444'
set xtics offset 0, tic_lift
set format x '%.10g'
set grid xtics linecolor rgb '#E6E6E6' dashtype 3
set xlabel x_label offset 0, label_lift textcolor rgb '#444444'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead linecolor rgb '#666666'
set key at screen right + 0.012, screen top left top Left reverse samplen 2 spacing key_spacing
plot \
    'boxes.tsv' using 2:1:2:3:($1 - 0.37):($1 + 0.37):4 \
        with boxxyerror linecolor rgb variable notitle, \
    'rows.tsv' using 2:1:3:6 with labels left textcolor rgb variable notitle, \
    'rows.tsv' using 4:1:5 with labels left offset 0.8, 0 textcolor rgb '#333333' notitle, \
    for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i]
