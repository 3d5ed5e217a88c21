
# text-time.gp: columns for active memory, and a line for reserved memory.
plot \
    'curves.tsv' using 1:2 with impulses title '  active', \
    'curves.tsv' using 1:3 with lines title '  reserved', \
    'phases.tsv' using 1:(y_top * 0.97):('|') with labels left notitle, \
    'phases.tsv' using (($1 + $2) / 2):(y_top * 0.97):4 with labels center notitle
