
# bars.gp: one bar per row, with its name on the left and its figures on the right.
set xrange [0:x_top]
set yrange [bars + 0.5:0.5]
set border 2 linecolor rgb '#666666'
set xtics nomirror out textcolor rgb '#444444'
set xtics offset 0, tic_lift
set format x '%.10g'
set grid xtics linecolor rgb '#E6E6E6' dashtype 3
set xlabel x_label offset 0, label_lift textcolor rgb '#444444'
unset ytics
if (!bar_axis) { unset xtics; unset xlabel; unset grid }
set key at screen 0.985, screen top right top Left reverse samplen 2 spacing key_spacing
plot \
    bars_file using (0):1:(0):2:($1 - 0.37):($1 + 0.37):3 \
        with boxxyerror linecolor rgb variable notitle, \
    bars_file using (0):1:4 with labels right offset -0.8, 0 notitle, \
    bars_file using 2:1:5 with labels left offset 0.8, 0 textcolor rgb '#333333' notitle, \
    for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i]
