#include "apps/demos/raster.h"

#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace demos {
namespace {

constexpr std::size_t kCellsMax = std::size_t{1} << 26U;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

Raster sized(const std::string& path, std::size_t width, std::size_t height) {
  if (width == 0 || height == 0 || width > kCellsMax / height) {
    fail(path, "an image of " + std::to_string(width) + " x " + std::to_string(height) +
                   " is not possible");
  }
  return {width, height, std::vector<double>(width * height)};
}

Raster read_png(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) fail(path, image.message);
  image.format = PNG_FORMAT_GRAY;
  Raster raster = sized(path, image.width, image.height);
  std::vector<std::uint8_t> grey(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, grey.data(), 0, nullptr) == 0) {
    fail(path, image.message);
  }
  std::transform(grey.begin(), grey.end(), raster.cells.begin(),
                 [](std::uint8_t value) { return value / 255.0; });
  return raster;
}

/// The next number of a PGM header, past comments.
std::size_t header_number(const std::string& path, std::istream& in) {
  std::size_t number = 0;
  while ((in >> std::ws).peek() == '#')
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  if (!(in >> number)) fail(path, "the header of the image is damaged");
  return number;
}

Raster read_pgm(const std::string& path, std::istream& in, bool is_binary) {
  const std::size_t width = header_number(path, in);
  const std::size_t height = header_number(path, in);
  const std::size_t greatest = header_number(path, in);
  if (greatest == 0 || greatest > 65535) fail(path, "the header of the image is damaged");
  Raster raster = sized(path, width, height);
  if (is_binary) in.get();
  for (double& cell : raster.cells) {
    std::size_t value = 0;
    if (is_binary) {
      value = static_cast<std::size_t>(in.get()) & 0xffU;
      if (greatest > 255) value = value << 8U | (static_cast<std::size_t>(in.get()) & 0xffU);
    } else {
      in >> value;
    }
    if (!in) fail(path, "the image is cut short");
    cell = static_cast<double>(value) / static_cast<double>(greatest);
  }
  return raster;
}

/// "ncols 4", "nrows 3" and other such lines, then the numbers.
Raster read_grid(const std::string& path, std::istream& in) {
  std::size_t width = 0;
  std::size_t height = 0;
  std::string key;
  while (std::isalpha((in >> std::ws).peek()) != 0 && in >> key) {
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    double value = 0;
    if (!(in >> value)) fail(path, "no number after " + key);
    if (key == "ncols") width = static_cast<std::size_t>(value);
    if (key == "nrows") height = static_cast<std::size_t>(value);
  }
  Raster raster = sized(path, width, height);
  for (double& cell : raster.cells) {
    if (!(in >> cell)) fail(path, "the grid is cut short");
  }
  return raster;
}

/// Where a file is written before it takes its name at once: another job may read the old one.
std::string unfinished(const std::string& path) {
  return path + "." + std::to_string(::getpid());
}

void finish(const std::string& path) {
  if (std::rename(unfinished(path).c_str(), path.c_str()) != 0) fail(path, "cannot be written");
}

}  // namespace

Raster read_raster(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, "cannot be read");
  std::array<char, 2> magic{};
  in.read(magic.data(), magic.size());
  if (magic[0] == '\x89' && magic[1] == 'P') return read_png(path);
  if (magic[0] == 'P' && (magic[1] == '2' || magic[1] == '5')) {
    return read_pgm(path, in, magic[1] == '5');
  }
  in.seekg(0);
  return read_grid(path, in);
}

void write_png(const std::string& path, const Raster& raster) {
  const auto [least, greatest] = std::minmax_element(raster.cells.begin(), raster.cells.end());
  const double span = *greatest > *least ? *greatest - *least : 1.0;
  std::vector<std::uint8_t> rgb;
  rgb.reserve(raster.cells.size() * 3);
  const auto shade = [](double part) {
    return static_cast<std::uint8_t>(std::lround(255.0 * std::clamp(part, 0.0, 1.0)));
  };
  for (const double cell : raster.cells) {
    const double heat = (cell - *least) / span;
    rgb.push_back(shade(2.0 * heat));
    rgb.push_back(shade(1.0 - std::abs(2.0 * heat - 1.0)));
    rgb.push_back(shade(2.0 - 2.0 * heat));
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(raster.width);
  image.height = static_cast<png_uint_32>(raster.height);
  image.format = PNG_FORMAT_RGB;
  const std::string file = unfinished(path);
  if (png_image_write_to_file(&image, file.c_str(), 0, rgb.data(), 0, nullptr) == 0) {
    fail(path, image.message);
  }
  finish(path);
}

std::string write_sample(const std::string& path, std::size_t size) {
  std::ofstream out(unfinished(path), std::ios::binary);
  out << "P5\n# a plate with hot and cold spots\n" << size << ' ' << size << "\n255\n";
  for (std::size_t y = 0; y < size; ++y) {
    for (std::size_t x = 0; x < size; ++x) {
      const double u = static_cast<double>(x) / static_cast<double>(size);
      const double v = static_cast<double>(y) / static_cast<double>(size);
      const double hot = std::exp(-40.0 * ((u - 0.3) * (u - 0.3) + (v - 0.4) * (v - 0.4)));
      const double cold = std::exp(-60.0 * ((u - 0.7) * (u - 0.7) + (v - 0.6) * (v - 0.6)));
      const double value = y == 0 ? 1.0 : std::clamp(0.4 + 0.6 * hot - 0.4 * cold, 0.0, 1.0);
      out.put(static_cast<char>(std::lround(255.0 * value)));
    }
  }
  out.close();
  if (!out) fail(path, "cannot be written");
  finish(path);
  return path;
}

}  // namespace demos
