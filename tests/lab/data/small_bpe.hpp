#pragma once

#include <string>
#include <vector>

#include "lab/data/bpe.hpp"
#include "tests/lab/data/scratch.hpp"

namespace bcos::lab::data {

/// Merges as lines of vocab.bpe; U+0120 is how the format writes a space.
inline const std::vector<std::string> kSmallMerges = {"h e",    "l l",      "he ll",
                                                      "hell o", "\u0120 w", "\u0120w o"};

/// encoder.json: the bytes 0 to 255, the results of the merges, the end of text.
inline std::string encoder_text(const std::vector<std::string>& merges) {
  std::string json = "{";
  std::size_t id = 0;
  const auto add = [&](std::string piece) {
    std::string escaped;
    for (const char c : piece) {
      if (c == '"' || c == '\\') escaped.push_back('\\');
      escaped.push_back(c);
    }
    json += (id == 0 ? "\"" : ", \"") + escaped + "\": " + std::to_string(id);
    ++id;
  };
  for (int byte = 0; byte < 256; ++byte) add(printable(std::string(1, static_cast<char>(byte))));
  for (std::string merge : merges) add(merge.erase(merge.find(' '), 1));
  add("<|endoftext|>");
  return json + "}";
}

inline std::string merges_text(const std::vector<std::string>& merges) {
  std::string text = "#version: 0.2\n";
  for (const std::string& merge : merges) text += merge + "\n";
  return text;
}

inline std::string write_small_bpe(const Scratch& scratch) {
  scratch.write("bpe/encoder.json", encoder_text(kSmallMerges));
  scratch.write("bpe/vocab.bpe", merges_text(kSmallMerges));
  return scratch.path("bpe");
}

}  // namespace bcos::lab::data
