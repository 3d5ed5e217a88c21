/* All kinds of pictures, in the order of --help. The first kind that can be drawn from a kind of
 * file is the default for it. */
#ifndef MEMSNAP_RENDER_PLOT_KINDS_H
#define MEMSNAP_RENDER_PLOT_KINDS_H

#include "render/plot/kind.h"

#define PLOT_KINDS(KIND)                                                                           \
    KIND(timeline)                                                                                 \
    KIND(categories)                                                                               \
    KIND(segments)                                                                                 \
    KIND(sites)                                                                                    \
    KIND(flame)                                                                                    \
    KIND(phases)                                                                                   \
    KIND(report)                                                                                   \
    KIND(layers)                                                                                   \
    KIND(pareto)                                                                                   \
    KIND(compare)

#define PLOT_DECLARE_KIND(name) extern const struct plot_kind plot_kind_##name;
PLOT_KINDS(PLOT_DECLARE_KIND)
#undef PLOT_DECLARE_KIND

#endif
