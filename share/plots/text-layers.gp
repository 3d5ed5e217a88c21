
# text-layers.gp: memory allocated after each row, or the first panel that has data.
set datafile separator tab
set datafile commentschars '#'
set lmargin 8
set rmargin 2
set xrange [0:axis_last[1]]
set yrange [0:axis_top[1]]
set border 3
set tics nomirror out
set format x '%.10g'
set title plot_title . "\n" . peak_text[1]
set xlabel axis_label[1] . '; ' . panel_title[1]
set key below samplen 1
plot 'panels.tsv' index 0 using 1:2 with impulses title (passes ? '  forward' : ''), \
    'panels.tsv' index 1 using 1:2 with impulses title (passes ? '  backward' : '')
