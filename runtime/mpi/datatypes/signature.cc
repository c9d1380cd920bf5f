#include <algorithm>

#include "runtime/mpi/datatypes/signature.h"

namespace phx::mpi {

void Signature::add(const Basic& basic, MPI_Count count) {
  if (count == 0) return;
  elements_ += count;
  bytes_ += count * basic.size;
  external_ += count * basic.external;
  if (!terms_.empty() && terms_.back().basic == &basic) {
    terms_.back().count += count;
  } else {
    terms_.push_back({&basic, nullptr, count});
  }
}

void Signature::add(const std::shared_ptr<const Signature>& other, MPI_Count count) {
  if (count == 0 || other->elements_ == 0) return;
  if (other->terms_.size() == 1 && other->terms_.front().basic != nullptr) {
    add(*other->terms_.front().basic, other->terms_.front().count * count);
    return;
  }
  elements_ += count * other->elements_;
  bytes_ += count * other->bytes_;
  external_ += count * other->external_;
  if (!terms_.empty() && terms_.back().inner == other) {
    terms_.back().count += count;
  } else {
    terms_.push_back({nullptr, other, count});
  }
}

MPI_Count Signature::elements_in(MPI_Count bytes) const {
  MPI_Count elements = 0;
  for (const Term& term : terms_) {
    if (bytes == 0) break;
    const MPI_Count full = std::min(term.count, bytes / term.bytes());
    elements += full * term.elements();
    bytes -= full * term.bytes();
    if (full == term.count || bytes == 0) continue;
    if (term.basic != nullptr) return MPI_UNDEFINED;
    const MPI_Count rest = term.inner->elements_in(bytes);
    return rest == MPI_UNDEFINED ? MPI_UNDEFINED : elements + rest;
  }
  return elements;
}

MPI_Count Signature::bytes_of(MPI_Count elements) const {
  MPI_Count bytes = 0;
  for (const Term& term : terms_) {
    const MPI_Count full = std::min(term.count, elements / term.elements());
    bytes += full * term.bytes();
    elements -= full * term.elements();
    if (full == term.count) continue;
    return term.basic != nullptr ? bytes : bytes + term.inner->bytes_of(elements);
  }
  return bytes;
}

void Signature::for_each(const std::function<void(const Basic&, MPI_Count)>& visit) const {
  for (const Term& term : terms_) {
    if (term.basic != nullptr) {
      visit(*term.basic, term.count);
      continue;
    }
    for (MPI_Count i = 0; i < term.count; ++i) term.inner->for_each(visit);
  }
}

}  // namespace phx::mpi
