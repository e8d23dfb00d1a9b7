#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bcos::lab::data {

/// What a data file holds, for people.
struct FileDescription {
  std::string format;                                      ///< such as "llm.c tokens"
  std::vector<std::pair<std::string, std::string>> facts;  ///< name and value, in order
};

/// Finds out the format and reads what is needed: a token file (llm.c's, or nanoGPT's if the name
/// ends in .bin), a CIFAR batch by its name, IDX raw or gzip, a JPEG or PNG image, text or other
/// bytes; of a folder, what open_images makes of it. Throws Error for a damaged file.
FileDescription describe_file(const std::string& path);

}  // namespace bcos::lab::data
