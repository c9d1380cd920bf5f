#include "tests/collectives/values.h"

namespace phx::collectives {

VnodeSet vnodes(std::uint64_t first, std::uint64_t last) {
  return VnodeSet::range(VnodeId{first}, VnodeId{last});
}

ProcessorSet processors(std::uint32_t first, std::uint32_t last) {
  return ProcessorSet::range(ProcessorId{first}, ProcessorId{last});
}

ReductionToken sum_token(const VnodeSet& covered, std::int64_t value, std::uint64_t number) {
  ReductionToken token;
  token.id = {VnodeId{0}, number};
  token.kind = {ReduceOp::kSum, ReduceType::kInt64, false};
  token.parts.push_back({covered, array_of<std::int64_t>({value})});
  return token;
}

}  // namespace phx::collectives
