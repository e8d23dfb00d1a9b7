#pragma once

#include <string>
#include <string_view>

namespace bcos::lab::data {

/// The text that every machine that compiles C++ has: the standard library's headers.
struct HeaderCorpus {
  std::string folder;
  std::string train;
  std::string val;  ///< every tenth file
  std::size_t files = 0;
};

/// All regular files below a folder, in order of path (bytes).
HeaderCorpus read_headers(const std::string& folder);

/// The folder with the header `vector` that a compiler on this machine searches, else one of
/// /usr/include/c++. Throws Error(io) with advice if there is none.
std::string header_folder();

/// From what `c++ -E -v` says: the first folder it searches that holds `vector`, or nothing.
std::string header_folder_in(std::string_view compiler_output);

}  // namespace bcos::lab::data
