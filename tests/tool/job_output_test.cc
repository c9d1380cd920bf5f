#include "apps/phoenix/jobs/job_output.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>

#include "runtime/tcp/descriptor.h"

namespace phx::app::job_output_test {

/// Standard output is a pipe that does not block, as long as this lives.
class FullPipe {
 public:
  FullPipe() : before_(::dup(STDOUT_FILENO)) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) == 0);
    reading_ = tcp::Descriptor(ends[0]);
    const tcp::Descriptor writing(ends[1]);
    ::dup2(writing.get(), STDOUT_FILENO);
  }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;
  ~FullPipe() { ::dup2(before_.get(), STDOUT_FILENO); }

  /// All that is in it.
  std::string read() {
    std::string text;
    std::array<char, 4096> chunk{};
    ssize_t size = 0;
    while ((size = ::read(reading_.get(), chunk.data(), chunk.size())) > 0) {
      text.append(chunk.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  tcp::Descriptor before_;
  tcp::Descriptor reading_;
};

TEST_CASE("output to a pipe that does not block waits for its reader") {
  auto output = JobOutput::make({.tags = false, .folder = {}});
  REQUIRE(output.ok());
  const std::string line = std::string(200'000, 'x') + "\n";
  std::string got;
  bool is_whole = false;
  {
    FullPipe pipe;
    int asked = 0;
    output.value().write({JobId{1}, ProcessorId{1}, false, Payload::copy_of(line)}, [&] {
      if (++asked % 2 == 0) got += pipe.read();  // Else it is full at the next write.
      return true;
    });
    is_whole = output.value().finish();
    got += pipe.read();
  }
  CHECK(is_whole);
  CHECK(got == line);
}

}  // namespace phx::app::job_output_test
