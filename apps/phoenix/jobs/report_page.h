#pragma once

#include <string>

#include "apps/phoenix/jobs/job_report.h"

namespace phx::app {

/// A page of a job, as SVG that needs nothing else: a row per processor over time, with its share
/// of waiting, its pauses, and the vnodes that went from row to row; below it what all of them
/// sent. REQUIRES a report that is complete and not empty.
[[nodiscard]] std::string report_page(const JobReport& report, const std::string& title,
                                      const std::string& subtitle);

}  // namespace phx::app
