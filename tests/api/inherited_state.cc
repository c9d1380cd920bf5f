// Does not compile, and the compiler's message says what to do instead: a test of this folder.
#include <vector>

#include "runtime/api/phoenix.h"

namespace phx {

struct Base {
  std::vector<int> cells;
  void state(auto& io) { io(cells); }
};

/// `more` would be lost without a word.
struct Derived : Base {
  std::vector<int> more;
};

void send(Session& job, const Derived& derived) {
  job.send(0, 1, derived);
}

}  // namespace phx
