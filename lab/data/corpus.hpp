#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lab/data/data_file.hpp"
#include "lab/data/tokens.hpp"
#include "lab/data/vocabulary.hpp"

namespace bcos::lab::data {

struct TextOptions {
  /// "headers" (the C++ standard library's), a text file, a token file, a pattern of token files,
  /// or a folder with train.bin and val.bin.
  std::string data = "headers";
  std::string val = {};          ///< a file or pattern of its own for validation
  std::string format = "auto";   ///< bytes | ascii | chars | bpe | tokens; auto: see open_text
  std::string bpe = {};          ///< the folder with encoder.json and vocab.bpe
  double val_fraction = 0.1;     ///< of the end of `data`, if there is no `val`
  std::uint64_t vocab_size = 0;  ///< of token files, which do not say; 0: 50257, Llama 3: 128256
};

struct TextData {
  std::unique_ptr<Tokens> train;
  std::unique_ptr<Tokens> val;
  Vocabulary vocabulary;
  std::string described;  ///< one line for people
  std::vector<FileFact> files;
};

/// Opens and checks everything before training starts. auto means tokens for a pattern, a folder, a
/// name that ends in .bin or a file with llm.c's mark; bpe if a folder for it is given; ascii for
/// the headers; else bytes. Throws Error with the file's name.
TextData open_text(const TextOptions& options);

}  // namespace bcos::lab::data
