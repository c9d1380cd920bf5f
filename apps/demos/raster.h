#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace demos {

/// A grid of numbers, row by row.
struct Raster {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<double> cells;

  [[nodiscard]] double& at(std::size_t x, std::size_t y) { return cells[y * width + x]; }
  [[nodiscard]] double at(std::size_t x, std::size_t y) const { return cells[y * width + x]; }
  void state(auto& io) { io(width, height, cells); }
  friend bool operator==(const Raster&, const Raster&) = default;
};

/// Reads an image (PNG, PGM) as brightness 0..1, or an ESRI ASCII grid as the numbers in it, told
/// apart by their first bytes. Throws std::runtime_error that names the file and what is wrong.
[[nodiscard]] Raster read_raster(const std::string& path);

/// Writes an image from blue (the least value) over white to red (the greatest). Throws.
void write_png(const std::string& path, const Raster& raster);

/// A square plate with hot and cold spots and a hot edge, for those who bring none, as a PGM image.
/// Returns its path.
std::string write_sample(const std::string& path, std::size_t size);

}  // namespace demos
