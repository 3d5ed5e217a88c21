
# frame.gp: the axes of a graph over time, and the peak.
set xrange [x_first:x_last]
set yrange [0:y_top * 1.05] # the strip of phases is above y_top
set border 3 linecolor rgb '#666666'
set tics nomirror out textcolor rgb '#444444'
set xtics offset 0, tic_lift
set format x '%.10g'
set grid ytics linecolor rgb '#DDDDDD' dashtype 3
set xlabel x_label offset 0, label_lift textcolor rgb '#444444'
set ylabel y_label textcolor rgb '#444444'
set key at screen right + 0.012, screen top left top Left reverse samplen 2 spacing key_spacing

# the peak, if it is known; its label is on the side that has room
peak_right = peak_x > x_first + 0.5 * (x_last - x_first)
if (peak_known) set arrow 1 from peak_x, y_top * 0.97 to peak_x, peak_y filled size graph 0.006,18 front
set label 3 peak_text at peak_x, y_top * 0.97 front
if (peak_right) set label 3 right offset character -1, 0; else set label 3 left offset character 1, 0

# a moment that was asked for
if (exists('mark_x')) {
    set arrow 2 from mark_x, 0 to mark_x, y_top nohead linewidth 1.2 dashtype 2 linecolor rgb '#CC0000' front
    set label 5 mark_text at mark_x, y_top * 0.92 textcolor rgb '#CC0000' front
    if (mark_x > x_first + 0.5 * (x_last - x_first)) {
        set label 5 right offset character -1, 0
    } else {
        set label 5 left offset character 1, 0
    }
}

# the phases: a strip at the top
strip_low = y_top * 1.012
strip_high = y_top * 1.05
