#include "lab/data/images.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/error.hpp"
#include "lab/data/image_formats.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "images";
constexpr const char* kFashionMnist = "/usr/share/datasets/fashion-mnist";

class MemoryImages : public Images {
 public:
  MemoryImages(ImageShape shape, std::vector<std::string> names, std::string pixels,
               std::vector<std::uint8_t> labels)
      : Images(shape, std::move(names)), pixels_(std::move(pixels)), labels_(std::move(labels)) {
    const auto wrong = std::find_if(labels_.begin(), labels_.end(),
                                    [&](std::uint8_t label) { return label >= classes(); });
    if (pixels_.size() != labels_.size() * this->shape().bytes() || wrong != labels_.end()) {
      throw fail(ErrorCode::internal, kWhere, "expected {} images with labels below {}",
                 labels_.size(), classes());
    }
  }

  std::uint64_t size() const override { return labels_.size(); }
  int label(std::uint64_t i) const override { return labels_.at(i); }
  void read(std::uint64_t i, std::span<std::uint8_t> chw) const override {
    if (i >= size() || chw.size() != shape().bytes()) {
      throw fail(ErrorCode::internal, kWhere, "expected one of {} images of {} bytes", size(),
                 shape().bytes());
    }
    std::copy_n(pixels_.data() + i * chw.size(), chw.size(), chw.begin());
  }

 private:
  std::string pixels_;
  std::vector<std::uint8_t> labels_;
};

/// Counts every value of every channel, so that the result does not depend on an order of sums.
void measure(const Images& images, ChannelNumbers& mean, ChannelNumbers& std) {
  const auto channels = static_cast<std::size_t>(images.shape().channels);
  std::vector<std::array<std::uint64_t, 256>> counts(channels);
  std::vector<std::uint8_t> image(images.shape().bytes());
  const std::size_t plane = image.size() / channels;
  for (std::uint64_t i = 0; i < images.size(); ++i) {
    images.read(i, image);
    for (std::size_t k = 0; k < image.size(); ++k) ++counts[k / plane][image[k]];
  }
  const auto total = static_cast<double>(images.size() * plane);
  for (std::size_t c = 0; c < mean.size(); ++c) {
    double sum = 0;
    double squares = 0;
    const auto& count = counts[std::min(c, channels - 1)];
    for (std::size_t value = 0; value < count.size(); ++value) {
      const double x = static_cast<double>(value) / 255;
      sum += static_cast<double>(count[value]) * x;
      squares += static_cast<double>(count[value]) * x * x;
    }
    const double average = sum / total;
    const double spread = std::sqrt(std::max(0.0, squares / total - average * average));
    mean[c] = static_cast<float>(average);
    std[c] = spread > 1e-6 ? static_cast<float>(spread) : 1.0F;
  }
}

std::string folder_of(const ImageOptions& options) {
  const bool named = options.data == "fashion-mnist";
  const std::string folder = named ? kFashionMnist : options.data;
  if (is_folder(folder)) return folder;
  if (named) {
    throw fail(ErrorCode::io, kWhere,
               "expected Fashion-MNIST in {} but received no such folder; apt install "
               "dataset-fashion-mnist",
               folder);
  }
  throw fail(ErrorCode::io, kWhere,
             "expected a folder of images but received '{}', which is {}: --data FOLDER with IDX "
             "files, CIFAR's, or train/ and val/ with a folder a class",
             folder, path_exists(folder) ? "a file" : "not there");
}

std::string format_of(const ImageOptions& options, const std::string& folder) {
  if (options.format != "auto") return options.format;
  if (is_idx_folder(folder)) return "idx";
  if (is_cifar10_folder(folder)) return "cifar10";
  if (is_cifar100_folder(folder)) return "cifar100";
  if (is_folder(folder + "/train")) return "folder";
  throw fail(ErrorCode::mismatch, kWhere,
             "expected train-images-idx3-ubyte, data_batch_1.bin, train.bin or a folder train in "
             "'{}' but received none of them",
             folder);
}

}  // namespace

Images::Images(ImageShape shape, std::vector<std::string> class_names)
    : shape_(shape), class_names_(std::move(class_names)) {}

Images::~Images() = default;

std::unique_ptr<Images> images_in_memory(ImageShape shape, std::vector<std::string> class_names,
                                         std::string pixels, std::vector<std::uint8_t> labels) {
  return std::make_unique<MemoryImages>(shape, std::move(class_names), std::move(pixels),
                                        std::move(labels));
}

ImageData open_images(const ImageOptions& options) {
  const std::string folder = folder_of(options);
  const std::string format = format_of(options, folder);
  ImageData data;
  if (format == "idx") {
    data = open_idx(folder);
  } else if (format == "cifar10") {
    data = open_cifar10(folder);
  } else if (format == "cifar100") {
    data = open_cifar100(folder);
  } else if (format == "folder") {
    data = open_image_folder(folder, options.image_size);
  } else {
    throw fail(kWhere, "expected format auto, idx, cifar10, cifar100 or folder but received '{}'",
               options.format);
  }
  if (format != "folder") measure(*data.train, data.mean, data.std);
  const ImageShape& shape = data.train->shape();
  data.described = fmt::format("{} ({}): {} + {} images of {} x {} x {}, {} classes", folder,
                               data.described, data.train->size(), data.val->size(), shape.channels,
                               shape.height, shape.width, data.train->classes());
  return data;
}

}  // namespace bcos::lab::data
