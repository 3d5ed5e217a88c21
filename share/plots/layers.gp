
# layers.gp: one panel per measure, two in a row; a single panel in a row takes the whole width.
set datafile separator tab
set datafile commentschars '#'
forward = 0x0072B2
backward = 0xE69F00
modules = 0x009E73
set style fill solid noborder
unset key
# a round step, not far from the given one
power(step) = 10 ** floor(log10(step))
round_step(step) = power(step) * (step / power(step) < 1.5 ? 1 : step / power(step) < 3.5 ? 2 : 5)
rows = (panels + 1) / 2
head = low ? 0.13 : 0.10 # of the picture's height, for the titles
left = 0.05
gap = 0.06
width = (1 - left - 0.02 - gap) / 2
height = (1 - head) / rows
set multiplot
set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 0
set tmargin at screen 1
unset border
unset tics
set label 1 plot_title at screen left, screen 1 - 0.3 * head left font ',16'
set label 2 plot_subtitle at screen left, screen 1 - 0.68 * head left textcolor rgb '#555555'
set label 3 (passes ? "■ forward" : '') at screen 0.84, screen 1 - 0.3 * head left textcolor rgb forward
set label 4 (passes ? "■ backward" : '') at screen 0.91, screen 1 - 0.3 * head left textcolor rgb backward
set xrange [0:1]
set yrange [0:1]
plot NaN
unset label 1
unset label 2
unset label 3
unset label 4
set border 3 linecolor rgb '#666666'
set xtics nomirror out textcolor rgb '#444444' font ',9' offset 0, tic_lift
set ytics nomirror out textcolor rgb '#444444' font ',9'
set format x '%.10g'
set grid noxtics ytics linetype 1 linecolor rgb '#DDDDDD' dashtype 3
do for [i = 1:panels] {
    row = (i - 1) / 2
    beside = (i - 1) % 2
    alone = i == panels && !beside
    from = left + beside * (width + gap)
    set lmargin at screen from
    set rmargin at screen from + (alone ? 2 * width + gap : width)
    set tmargin at screen 1 - head - row * height - 0.16 * height
    set bmargin at screen 1 - head - (row + 1) * height + 0.2 * height
    set xrange [0:axis_last[i]]
    set yrange [0:axis_top[i]]
    set ytics round_step(axis_top[i] / 4)
    set title panel_title[i] offset 0, -0.6
    set xlabel (low ? '' : axis_label[i]) textcolor rgb '#444444' font ',9' offset 0, 0.7 + label_lift
    # the label is above the highest column, on the side that has room
    set label 1 peak_text[i] at peak_x[i], peak_y[i] point pointtype 7 pointsize 0.4 front font ',9'
    if (peak_x[i] > 0.5 * axis_last[i]) {
        set label 1 right offset character -0.6, 0.7
    } else {
        set label 1 left offset character 0.6, 0.7
    }
    first = axis_label[i] eq 'modules' ? modules : forward
    plot 'panels.tsv' index 2 * i - 2 using 1:2 with filledcurves y1=0 linecolor rgb first, \
        'panels.tsv' index 2 * i - 1 using 1:2 with filledcurves y1=0 linecolor rgb backward, \
        'panels.tsv' index 2 * i - 2 using 1:2 with lines linewidth 0.7 linecolor rgb first, \
        'panels.tsv' index 2 * i - 1 using 1:2 with lines linewidth 0.7 linecolor rgb backward
}
unset multiplot
