#include <algorithm>
#include <cmath>

#include "lab/data/decode_image.hpp"

namespace bcos::lab::data {
namespace {

/// Where one pixel of the result comes from along one side.
struct Taps {
  int first = 0;
  std::vector<float> weights;
};

/// For `size` pixels from the middle of a side that was scaled from `from` to `to` pixels.
std::vector<Taps> taps_of(int from, int to, int size) {
  const double scale = static_cast<double>(from) / to;
  const double reach = std::max(scale, 1.0);
  const int skipped = (to - size) / 2;
  std::vector<Taps> all(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    const double centre = (i + skipped + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(std::floor(centre - reach)));
    const int last = std::min(from, static_cast<int>(std::ceil(centre + reach)));
    Taps& taps = all[static_cast<std::size_t>(i)];
    taps.first = first;
    double sum = 0;
    for (int k = first; k < last; ++k) {
      const double weight = std::max(0.0, 1 - std::abs(k + 0.5 - centre) / reach);
      taps.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : taps.weights) weight = static_cast<float>(weight / sum);
  }
  return all;
}

}  // namespace

void fit_square(const RgbImage& image, int size, std::uint8_t* chw) {
  const int shorter = std::min(image.width, image.height);
  const auto scaled = [&](int side) {
    return std::max(size, static_cast<int>(std::int64_t{side} * size / shorter));
  };
  const std::vector<Taps> columns = taps_of(image.width, scaled(image.width), size);
  const std::vector<Taps> rows = taps_of(image.height, scaled(image.height), size);
  const auto side = static_cast<std::size_t>(size);
  const auto width = static_cast<std::size_t>(image.width);

  // Of the rows that are needed, the columns first: height x size x 3.
  const auto top = static_cast<std::size_t>(rows.front().first);
  const std::size_t bottom =
      static_cast<std::size_t>(rows.back().first) + rows.back().weights.size();
  std::vector<float> narrow((bottom - top) * side * 3);
  for (std::size_t y = top; y < bottom; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      float sums[3] = {};
      const std::uint8_t* from =
          image.pixels.data() + 3 * (y * width + static_cast<std::size_t>(columns[x].first));
      for (const float weight : columns[x].weights) {
        for (int c = 0; c < 3; ++c) sums[c] += weight * static_cast<float>(*from++);
      }
      std::copy_n(sums, 3, narrow.data() + 3 * ((y - top) * side + x));
    }
  }
  for (std::size_t y = 0; y < side; ++y) {
    const std::size_t first = static_cast<std::size_t>(rows[y].first) - top;
    for (std::size_t x = 0; x < side; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        float sum = 0;
        for (std::size_t k = 0; k < rows[y].weights.size(); ++k) {
          sum += rows[y].weights[k] * narrow[3 * ((first + k) * side + x) + c];
        }
        chw[(c * side + y) * side + x] =
            static_cast<std::uint8_t>(std::clamp(std::lround(sum), 0L, 255L));
      }
    }
  }
}

}  // namespace bcos::lab::data
