if BASH_COMPLETION
bashcompletion_DATA = share/bash-completion/memsnap
endif
if ZSH_COMPLETION
zshcompletion_DATA = share/zsh/_memsnap
endif
if FISH_COMPLETION
fishcompletion_DATA = share/fish/memsnap.fish
endif
EXTRA_DIST += share/bash-completion/memsnap share/zsh/_memsnap share/fish/memsnap.fish

plotsdir = $(pkgdatadir)/plots
dist_plots_DATA = \
	share/plots/bars.gp \
	share/plots/categories.gp \
	share/plots/compare.gp \
	share/plots/fit.gp \
	share/plots/flame.gp \
	share/plots/frame.gp \
	share/plots/fsdp.gp \
	share/plots/iterations.gp \
	share/plots/layers.gp \
	share/plots/page.gp \
	share/plots/pareto.gp \
	share/plots/phases.gp \
	share/plots/ranks.gp \
	share/plots/replay.gp \
	share/plots/report.gp \
	share/plots/segments.gp \
	share/plots/shard.gp \
	share/plots/steps.gp \
	share/plots/text-bars.gp \
	share/plots/text-categories.gp \
	share/plots/text-compare.gp \
	share/plots/text-fit.gp \
	share/plots/text-layers.gp \
	share/plots/text-pareto.gp \
	share/plots/text-rows.gp \
	share/plots/text-ranks.gp \
	share/plots/text-replay.gp \
	share/plots/text-shard.gp \
	share/plots/text-time.gp \
	share/plots/text-trend.gp \
	share/plots/text.gp \
	share/plots/timeline.gp \
	share/plots/trend.gp

# The recorder for PyTorch programs.
recorddir = $(pkgdatadir)/record
dist_record_DATA = share/record/memsnap_record.py

# For clusters.
clusterdir = $(pkgdatadir)/cluster
dist_cluster_DATA = share/cluster/captures.sh
dist_cluster_SCRIPTS = \
	share/cluster/parallel.sh \
	share/cluster/slurm-array.sh \
	share/cluster/slurm-epilog.sh \
	share/cluster/slurm-merge.sh \
	share/cluster/slurm-submit.sh

# For users of memsnap check.
dist_pkgdata_DATA = share/policy.schema.json
cidir = $(pkgdatadir)/ci
dist_ci_DATA = \
	share/ci/github-actions.yml \
	share/ci/gitlab-ci.yml \
	share/ci/memory-policy.json

EXTRA_DIST += share/gallery/categories.png share/gallery/flame.png share/gallery/layers.png share/gallery/pareto.png \
	share/gallery/phases.png share/gallery/ranks.png share/gallery/report.png share/gallery/segments.png share/gallery/sites.png share/gallery/timeline.png
