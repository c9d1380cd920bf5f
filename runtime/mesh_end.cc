#include "runtime/mesh_end.h"

#include <utility>

namespace phx::runtime {

void MeshEnd::begin(const ProcessorSet& others) {
  step_ = Step::kReach;
  others_ = others;
}

bool MeshEnd::on_told(const ProcessorSet& told) {
  others_ = others_.minus(told);
  if (others_.empty()) step_ = Step::kNone;
  return !others_.empty();
}

bool MeshEnd::end() {
  step_ = Step::kNone;
  return !std::exchange(is_over_, true);
}

ProcessorSet MeshEnd::next(const ProcessorSet& far) {
  const ProcessorSet first = others_.common(far);
  if (step_ == Step::kReach && !first.empty()) {
    step_ = Step::kFar;
    others_ = others_.minus(first);
    return first;
  }
  step_ = Step::kNone;
  return std::exchange(others_, {});
}

}  // namespace phx::runtime
