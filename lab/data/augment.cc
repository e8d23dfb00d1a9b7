#include "lab/data/augment.hpp"

#include <algorithm>
#include <cmath>

#include "engine/error.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "batches";
constexpr int kMostPadding = 64;

double between(Random& random, double low, double high) {
  return low + random.uniform() * (high - low);
}

/// A ratio and its inverse are as likely.
double ratio_up_to(Random& random, double most) {
  return std::exp(between(random, -std::log(most), std::log(most)));
}

int whole_below(Random& random, int n) {
  return static_cast<int>(random.below(static_cast<std::uint64_t>(n)));
}

/// A box with this part of the area, as far as there is room, anywhere in the image.
Box draw_box(Random& random, const ImageShape& shape, double part, double ratio) {
  const double area = part * shape.height * shape.width;
  const int height = std::min(shape.height, static_cast<int>(std::lround(std::sqrt(area * ratio))));
  const int width = std::min(shape.width, static_cast<int>(std::lround(std::sqrt(area / ratio))));
  Box box;
  box.top = whole_below(random, shape.height - height + 1);
  box.left = whole_below(random, shape.width - width + 1);
  box.bottom = box.top + height;
  box.right = box.left + width;
  return box;
}

/// Beta(a, a) by Joehnk's rule, which is quick for a <= 1: x / (x + y) of two powers of uniform
/// numbers, if they add up to 1 at most. Logarithms, for with a small both are next to 0.
double draw_beta(Random& random, double a) {
  while (true) {
    const double log_x = std::log1p(-random.uniform()) / a;
    const double log_y = std::log1p(-random.uniform()) / a;
    if (std::exp(log_x) + std::exp(log_y) <= 1) return 1 / (1 + std::exp(log_y - log_x));
  }
}

using Values = float[256];

void move(const std::uint8_t* from, const ImageShape& shape, const Change& change,
          const Values& value_of, float* out) {
  const int down = static_cast<int>(change.top);
  const int right = static_cast<int>(change.left);
  for (int y = 0; y < shape.height; ++y) {
    const int source_y = y + down;
    for (int x = 0; x < shape.width; ++x) {
      const int source_x = (change.flip ? shape.width - 1 - x : x) + right;
      const bool inside =
          source_y >= 0 && source_y < shape.height && source_x >= 0 && source_x < shape.width;
      *out++ = value_of[inside ? from[source_y * shape.width + source_x] : 0];
    }
  }
}

/// The two pixels around a place, and how much of the second.
struct Between {
  int first;
  int second;
  float part;
};

Between place_of(int i, double begin, double length, int size) {
  const double place = std::clamp(begin + (i + 0.5) * length / size - 0.5, 0.0, size - 1.0);
  const int first = static_cast<int>(place);
  return {first, std::min(first + 1, size - 1), static_cast<float>(place - first)};
}

float mixed(float a, float b, float part) { return a + part * (b - a); }

void stretch(const std::uint8_t* from, const ImageShape& shape, const Change& change,
             const Values& value_of, float* out) {
  std::vector<Between> columns;
  for (int x = 0; x < shape.width; ++x) {
    const int mirrored = change.flip ? shape.width - 1 - x : x;
    columns.push_back(place_of(mirrored, change.left, change.width, shape.width));
  }
  for (int y = 0; y < shape.height; ++y) {
    const Between row = place_of(y, change.top, change.height, shape.height);
    const std::uint8_t* const above = from + row.first * shape.width;
    const std::uint8_t* const below = from + row.second * shape.width;
    for (const Between& column : columns) {
      const auto across = [&](const std::uint8_t* line) {
        return mixed(value_of[line[column.first]], value_of[line[column.second]], column.part);
      };
      *out++ = mixed(across(above), across(below), row.part);
    }
  }
}

template <class Visit>
void for_each_pixel(const Box& box, const ImageShape& shape, Visit visit) {
  for (int c = 0; c < shape.channels; ++c) {
    for (int y = box.top; y < box.bottom; ++y) {
      for (int x = box.left; x < box.right; ++x) {
        visit((c * shape.height + y) * shape.width + x);
      }
    }
  }
}

}  // namespace

void check(const Augment& augment) {
  if (augment.crop_padding < 0 || augment.crop_padding > kMostPadding) {
    throw fail(kWhere, "expected a crop padding from 0 to {} but received {}", kMostPadding,
               augment.crop_padding);
  }
  if (!(augment.smallest_crop > 0 && augment.smallest_crop <= 1)) {
    throw fail(kWhere, "expected smallest_crop in (0, 1] but received {}", augment.smallest_crop);
  }
  const auto in_unit = [](const char* name, double value) {
    if (value >= 0 && value <= 1) return;
    throw fail(kWhere, "expected {} in [0, 1] but received {}", name, value);
  };
  in_unit("erase", augment.erase);
  in_unit("mixup", augment.mixup);
  in_unit("cutmix", augment.cutmix);
}

Change no_change(const ImageShape& shape) {
  Change change;
  change.height = shape.height;
  change.width = shape.width;
  return change;
}

Change draw_change(const Augment& augment, const ImageShape& shape, Random random) {
  Change change = no_change(shape);
  if (augment.smallest_crop < 1) {
    const double part = between(random, augment.smallest_crop, 1);
    const double ratio = ratio_up_to(random, 4.0 / 3);
    change.height = std::min(1.0, std::sqrt(part * ratio)) * shape.height;
    change.width = std::min(1.0, std::sqrt(part / ratio)) * shape.width;
    change.top = random.uniform() * (shape.height - change.height);
    change.left = random.uniform() * (shape.width - change.width);
  } else if (augment.crop_padding > 0) {
    const int places = 2 * augment.crop_padding + 1;
    change.top = whole_below(random, places) - augment.crop_padding;
    change.left = whole_below(random, places) - augment.crop_padding;
  }
  if (augment.flip) change.flip = random.below(2) == 1;
  if (augment.erase > 0 && random.uniform() < augment.erase) {
    const double part = between(random, 0.02, 1.0 / 3);
    change.erased = draw_box(random, shape, part, ratio_up_to(random, 10.0 / 3));
  }
  return change;
}

void render(const std::uint8_t* chw, const ImageShape& shape, const Change& change,
            const ChannelNumbers& mean, const ChannelNumbers& std, float* out) {
  const int pixels = shape.height * shape.width;
  const bool whole = change.height == shape.height && change.width == shape.width;
  for (int c = 0; c < shape.channels; ++c) {
    const auto channel = static_cast<std::size_t>(std::min(c, 2));
    Values value_of;
    for (int value = 0; value < 256; ++value) {
      value_of[value] = (static_cast<float>(value) / 255.0F - mean[channel]) / std[channel];
    }
    (whole ? move : stretch)(chw + c * pixels, shape, change, value_of, out + c * pixels);
  }
  for_each_pixel(change.erased, shape, [&](int i) { out[i] = 0; });
}

Mix draw_mix(const Augment& augment, const ImageShape& shape, Random random) {
  Mix mix;
  if (augment.mixup == 0 && augment.cutmix == 0) return mix;
  mix.fades = augment.cutmix == 0 || (augment.mixup > 0 && random.below(2) == 0);
  const double share = draw_beta(random, mix.fades ? augment.mixup : augment.cutmix);
  if (mix.fades) {
    mix.share = share;
    return mix;
  }
  mix.swapped = draw_box(random, shape, 1 - share, 1);
  mix.share = 1 - static_cast<double>(mix.swapped.area()) / (shape.height * shape.width);
  return mix;
}

void mix_rows(const Mix& mix, const ImageShape& shape, std::uint64_t rows, float* images) {
  if (mix.share == 1) return;
  const std::uint64_t size = shape.bytes();
  const auto share = static_cast<float>(mix.share);
  for (std::uint64_t row = 0; row < rows / 2; ++row) {
    float* const one = images + row * size;
    float* const other = images + (rows - 1 - row) * size;
    if (!mix.fades) {
      for_each_pixel(mix.swapped, shape, [&](int i) { std::swap(one[i], other[i]); });
      continue;
    }
    for (std::uint64_t i = 0; i < size; ++i) {
      const float was = one[i];
      one[i] = mixed(other[i], was, share);
      other[i] = mixed(was, other[i], share);
    }
  }
}

}  // namespace bcos::lab::data
