
# text-categories.gp: stacked areas, one character per category. The highest sum is drawn first, so
# that the lower ones cover all of it except its own part. There are seven characters.
set title plot_title . "\n" . peak_text . '; sizes below: at the peak'
plot \
    'curves.tsv' using 1:2 with impulses linetype 7 title (others_name eq '' ? '' : '  ' . others_name), \
    for [i = areas:1:-1] 'categories.tsv' using 1:(column(i + 2)) with impulses linetype i \
        title '  ' . area_name[i], \
    'phases.tsv' using 1:(y_top * 0.97):('|') with labels left notitle, \
    'phases.tsv' using (($1 + $2) / 2):((y_top) * 0.97):4 with labels center notitle
