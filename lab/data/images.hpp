#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lab/data/data_file.hpp"

namespace bcos::lab::data {

/// What all images of a set have in common.
struct ImageShape {
  int channels = 0;
  int height = 0;
  int width = 0;
  std::uint64_t bytes() const {
    return std::uint64_t{1} * static_cast<unsigned>(channels) * static_cast<unsigned>(height) *
           static_cast<unsigned>(width);
  }
  bool operator==(const ImageShape&) const = default;
};

/// Labelled images of 8 bits a channel. Reading is safe from several threads at a time.
class Images {
 public:
  Images(ImageShape shape, std::vector<std::string> class_names);
  Images(const Images&) = delete;
  Images& operator=(const Images&) = delete;
  virtual ~Images();

  const ImageShape& shape() const { return shape_; }
  int classes() const { return static_cast<int>(class_names_.size()); }
  const std::vector<std::string>& class_names() const { return class_names_; }

  virtual std::uint64_t size() const = 0;
  /// shape().bytes() bytes: channel after channel, row after row. Throws Error with the file's
  /// name.
  virtual void read(std::uint64_t i, std::span<std::uint8_t> chw) const = 0;
  /// In [0, classes()).
  virtual int label(std::uint64_t i) const = 0;

  /// Sentences about images that read() found damaged, each once.
  virtual std::vector<std::string> take_complaints() const { return {}; }

 private:
  ImageShape shape_;
  std::vector<std::string> class_names_;
};

/// `pixels` holds the images one after the other, `labels` one below the number of names for each.
std::unique_ptr<Images> images_in_memory(ImageShape shape, std::vector<std::string> class_names,
                                         std::string pixels, std::vector<std::uint8_t> labels);

struct ImageOptions {
  /// "fashion-mnist" (Debian's dataset-fashion-mnist), or a folder: of IDX files as MNIST has them
  /// (raw or .gz), of CIFAR-10's or CIFAR-100's binary files, or ROOT/{train,val}/CLASS/*.
  std::string data = "fashion-mnist";
  std::string format = "auto";  ///< idx | cifar10 | cifar100 | folder
  int image_size = 224;         ///< side of the images of an image folder
};

/// One number a channel, of values in [0, 1].
using ChannelNumbers = std::array<float, 3>;

struct ImageData {
  std::unique_ptr<Images> train;
  std::unique_ptr<Images> val;
  std::string described;  ///< one line for people
  std::vector<FileFact> files;
  ChannelNumbers mean{};  ///< of the training images; ImageNet's for an image folder
  ChannelNumbers std{};
};

/// Opens and checks everything but the images of an image folder, which are decoded when they are
/// read: a damaged one is taken for a black one, more than one in a hundred are an error. Throws
/// Error with the file's name.
ImageData open_images(const ImageOptions& options);

}  // namespace bcos::lab::data
