#pragma once

#include <cstdint>

#include "apps/phoenix/experiments/verbs.h"

namespace phx::app {

/// What the beginning of a step of an exchange costs, as bytes that could have been sent meanwhile.
inline constexpr std::uint64_t kSetupBytes = 20'000;

/// The verbs; each returns its exit code.
int plan(const PlanOptions& options);
int experiment(const ExperimentOptions& options);
int simulate(const SimOptions& options);

class Progress;

/// Each runs to its end, prints its table and writes its files. Exit codes of `phoenix experiment`.
int experiment_fig7(const ExperimentOptions& options, Progress& progress);
int experiment_fig8(const ExperimentOptions& options, Progress& progress);
int experiment_fig9(const ExperimentOptions& options, Progress& progress);
int experiment_scale(const ExperimentOptions& options, Progress& progress);
int experiment_sizes(const ExperimentOptions& options, Progress& progress);
int experiment_slow(const ExperimentOptions& options, Progress& progress);
int experiment_drain(const ExperimentOptions& options, Progress& progress);
int experiment_drop(const ExperimentOptions& options, Progress& progress);
int experiment_exchange(const ExperimentOptions& options, Progress& progress);
int experiment_agm(const ExperimentOptions& options, Progress& progress);
int experiment_mgo(const ExperimentOptions& options, Progress& progress);
int experiment_redistribution(const ExperimentOptions& options, Progress& progress);
int experiment_round(const ExperimentOptions& options, Progress& progress);
int experiment_summary(const ExperimentOptions& options, Progress& progress);

}  // namespace phx::app
