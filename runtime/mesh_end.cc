#include "runtime/mesh_end.h"

#include <utility>

namespace phx::runtime {

void MeshEnd::begin(const ProcessorSet& others, const ProcessorSet& told) {
  step_ = Step::kReach;
  others_ = others;
  told_ = told.united(others);
  is_own_ = told.empty();
}

bool MeshEnd::on_told(const ProcessorSet& told) {
  others_ = others_.minus(told);
  told_ = told_.united(told);
  if (!others_.empty()) return true;
  step_ = Step::kNone;
  is_own_ = false;
  return false;
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
