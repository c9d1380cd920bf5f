// Does not compile, and the compiler's message says what to do instead: a test of this folder.
#include "runtime/api/phoenix.h"

namespace phx {

/// `cells` means nothing to another process.
struct Strip {
  int count = 0;
  double* cells = nullptr;
};

void send(Session& job, const Strip& strip) {
  job.send(0, 1, strip);
}

}  // namespace phx
