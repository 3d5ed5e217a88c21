
# text-time.gp: a column for what was active, and a line for what was reserved.
plot \
    'curves.tsv' using 1:2 with impulses title '  active', \
    'curves.tsv' using 1:3 with lines title '  reserved', \
    'phases.tsv' using 1:(y_top * 0.97):('|') with labels left notitle, \
    'phases.tsv' using (($1 + $2) / 2):(y_top * 0.97):4 with labels center notitle
