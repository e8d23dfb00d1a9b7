#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/data/images.hpp"

/// The formats behind open_images().
namespace bcos::lab::data {

/// An IDX file of unsigned bytes.
struct IdxArray {
  std::vector<std::uint64_t> sizes;
  std::string values;
};

/// Raw or gzip. Throws Error(corrupt) unless the sizes in the header give the bytes that follow.
IdxArray read_idx(const std::string& path, std::vector<FileFact>* files = nullptr);

bool is_idx_folder(const std::string& folder);
bool is_cifar10_folder(const std::string& folder);
bool is_cifar100_folder(const std::string& folder);

/// Each fills train, val and files, and describes the data.
ImageData open_idx(const std::string& folder);
ImageData open_cifar10(const std::string& folder);
ImageData open_cifar100(const std::string& folder);
ImageData open_image_folder(const std::string& root, int image_size);

}  // namespace bcos::lab::data
