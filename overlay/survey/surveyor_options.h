#pragma once

#include <cstddef>
#include <cstdint>

#include "overlay/base/time.h"
#include "overlay/survey/complaints.h"
#include "overlay/survey/site_finder.h"

namespace phx::overlay {

/// How a Surveyor goes about it [overlay/survey/README.md].
struct SurveyorOptions {
  SiteFinderOptions sites;
  /// A run begins so long after the last change of the membership, but not later than
  /// `gather_most` after the first one.
  Duration gather = 100ms;
  Duration gather_most = 500ms;
  /// Candidates for new landmarks per round: as many as there are sites, and at least these.
  std::size_t candidates = 8;
  /// Pings to each landmark; the shortest round trip counts [Saito08 G18].
  std::uint32_t pings = 3;
  /// A landmark's time for those who measure it: tasks are spread over this for each of them.
  Duration per_asker = 400us;
  /// Who is not heard of after spreading and this is left out of the run.
  Duration patience = 9s;
  /// Those are tried again after this time.
  Duration again = 10s;
  /// How often distances between sites are measured again, each time by others, with so few pings.
  Duration patrol = 5s;
  std::uint32_t patrol_pings = 2;
  /// Before newcomers are told to be sites of their own, in a network that was known before, so
  /// many of each measure members of other sites, in so many of these, with one ping each.
  std::size_t look_askers = 16;
  std::size_t look_sites = 8;
  std::size_t look_witnesses = 6;
  Duration look_patience = 500ms;  ///< Nobody who has been placed waits longer for it.
  /// So many come sooner after newcomers have become sites: they may have measured badly.
  std::uint32_t patrols_soon = 2;
  Duration patrol_soon = 500ms;
  /// Processors of a round that also measure what a message costs.
  std::size_t overheads = 8;
  /// Bandwidths are measured so long after all were placed. Who has not reported after so long for
  /// each download that it was asked for is left out.
  Duration rates_after = 1s;
  Duration rates_patience = 2500ms;
  ComplaintOptions complaints;
  /// Because of waits all are told no more often than this, whoever says what [limit].
  Duration waits_pause = 2500ms;
  std::size_t doubts_most = 16;  ///< More are not measured because of complaints [limit].
  /// Ways into each site that a patrol looks at; bytes for it: what passes in so much time, within
  /// bounds. What is not as it was known is measured at once and at length.
  std::size_t glances = 4;
  Duration glance = 1ms;
  std::uint64_t glance_least = 8192;
  std::uint64_t glance_most = std::uint64_t{128} << 10U;
  /// On ways of longer round trips: what passes in one, to tell a narrow way from TCP's windows.
  std::uint64_t far_glance_most = std::uint64_t{512} << 10U;
  std::uint64_t glances_most = std::uint64_t{640} << 10U;  ///< Into a site, but for the first one.
};

}  // namespace phx::overlay
