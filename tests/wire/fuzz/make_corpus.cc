#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/wire/families.h"

/// Writes inputs for the fuzz targets from which they can start: every kind of every message, as
/// codec_fuzz and as framing_fuzz expect them. Usage: phx_wire_corpus <folder>
namespace {

using namespace phx;

void write_file(const std::filesystem::path& path, const std::string& start, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << start << Payload(bytes).text();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: phx_wire_corpus <folder>\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder / "codec");
  std::filesystem::create_directories(folder / "framing");
  wire::Encoder encoder;
  char chooser = 0;
  wire::for_all_families([&](auto family) {
    using Family = decltype(family);
    for (std::size_t kind = 0; kind < Family::kKinds; ++kind) {
      support::RandomMessages random(kind);
      const wire::Encoded encoded = encoder.encode(Family::make(random, kind));
      const Bytes all = wire::flatten(encoded);
      const std::size_t header = encoded.head.size() - wire::kPrefixBytes;
      const std::string name =
          std::to_string(static_cast<unsigned>(Family::kFamily)) + "_" + std::to_string(kind);
      const std::string start{chooser, static_cast<char>(header & 0xffU),
                              static_cast<char>(header >> 8U)};
      write_file(folder / "codec" / name, start,
                 Bytes(all.begin() + wire::kPrefixBytes, all.end()));
      write_file(folder / "framing" / name, std::string{1, 30}, all);
    }
    ++chooser;
  });
  return 0;
}
