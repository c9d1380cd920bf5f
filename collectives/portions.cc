#include "collectives/portions.h"

#include <utility>

namespace phx::collectives {

std::vector<std::vector<ReductionPart>> portions(std::vector<ReductionPart> parts) {
  std::vector<std::vector<ReductionPart>> result(1);
  std::uint64_t bytes = 0;
  for (ReductionPart& part : parts) {
    const std::uint64_t size = part.value.size();
    const bool is_full = result.back().size() == kPortionParts || bytes + size > kPortionBytes;
    if (is_full && !result.back().empty()) {
      result.emplace_back();
      bytes = 0;
    }
    bytes += size;
    result.back().push_back(std::move(part));
  }
  return result;
}

}  // namespace phx::collectives
