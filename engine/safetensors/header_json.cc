#include "engine/safetensors/header_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/safetensors/checksums.hpp"
#include "engine/safetensors/header.hpp"
#include "engine/safetensors/layout.hpp"

namespace bcos::safetensors {
namespace {

using nlohmann::json;

/// Receives the parser's events; throws as soon as one is out of place, so depth stays bounded.
class HeaderEvents {
 public:
  explicit HeaderEvents(RawHeader& header) : header_(header) {}

  bool start_object(std::size_t) {
    if (at_ == At::start) {
      at_ = At::file;
    } else if (at_ == At::file) {
      at_ = next_is_metadata_ ? At::metadata : At::entry;
    } else {
      refuse("an object");
    }
    return true;
  }

  bool key(std::string& key) {
    if (at_ == At::file) {
      begin_member(key);
    } else if (at_ == At::metadata) {
      metadata_key_ = std::move(key);
    } else {
      begin_field(key);
    }
    return true;
  }

  bool end_object() {
    if (at_ == At::entry) {
      end_entry();
      at_ = At::file;
    } else {
      at_ = at_ == At::metadata ? At::file : At::end;
    }
    return true;
  }

  bool start_array(std::size_t) {
    if (at_ != At::entry || field_ == Field::dtype) refuse("an array");
    at_ = field_ == Field::shape ? At::shape : At::offsets;
    return true;
  }

  bool end_array() {
    if (at_ == At::offsets && offsets_ != 2) refuse(fmt::format("{} offsets", offsets_));
    at_ = At::entry;
    return true;
  }

  bool string(std::string& text) {
    if (at_ == At::metadata) {
      add_metadata(text);
    } else if (at_ == At::entry && field_ == Field::dtype) {
      if (dtype_size(text) == 0) refuse("the dtype " + in_quotes(text));
      tensor().dtype = std::move(text);
    } else {
      refuse("the string " + in_quotes(text));
    }
    return true;
  }

  bool number_unsigned(std::uint64_t number) {
    if (at_ == At::shape && number <= kMaxNumber) {
      if (tensor().shape.size() == kMaxRank) refuse("more than 64 sizes");
      tensor().shape.push_back(number);
    } else if (at_ == At::offsets && number <= kMaxNumber) {
      if (offsets_ == 2) refuse("more than 2 offsets");
      (offsets_++ == 0 ? tensor().begin : tensor().end) = number;
    } else {
      refuse(fmt::format("{}", number));
    }
    return true;
  }

  bool null() { refuse("null"); }
  bool boolean(bool value) { refuse(value ? "true" : "false"); }
  bool number_integer(std::int64_t number) { refuse(fmt::format("{}", number)); }
  bool number_float(double, const std::string& text) { refuse("the number " + in_quotes(text)); }
  bool binary(json::binary_t&) { refuse("binary"); }

  bool parse_error(std::size_t position, const std::string& last, const json::exception&) {
    throw Malformed(fmt::format("expected a header of JSON in UTF-8 but received {} at its byte {}",
                                in_quotes(last), position));
  }

 private:
  enum class At { start, file, metadata, entry, shape, offsets, end };
  enum class Field { dtype, shape, data_offsets };

  TensorInfo& tensor() { return header_.tensors.back(); }

  void begin_member(std::string& name) {
    next_is_metadata_ = name == kMetadata;
    if (next_is_metadata_) {
      if (std::exchange(has_metadata_, true)) {
        throw Malformed("expected one __metadata__ but received it twice");
      }
      return;
    }
    if (const std::string_view problem = name_problem(name); !problem.empty()) {
      throw Malformed(
          fmt::format("expected a tensor name but received {}: {}", problem, in_quotes(name)));
    }
    header_.tensors.emplace_back().name = std::move(name);
    seen_[0] = seen_[1] = seen_[2] = false;
    offsets_ = 0;
  }

  void begin_field(const std::string& key) {
    if (key == "dtype") {
      field_ = Field::dtype;
    } else if (key == "shape") {
      field_ = Field::shape;
    } else if (key == "data_offsets") {
      field_ = Field::data_offsets;
    } else {
      throw Malformed(
          fmt::format("expected dtype, shape and data_offsets of tensor {} but received key {}",
                      in_quotes(tensor().name), in_quotes(key)));
    }
    if (std::exchange(seen_[static_cast<int>(field_)], true)) {
      throw Malformed(fmt::format("expected one {} of tensor {} but received it twice", key,
                                  in_quotes(tensor().name)));
    }
  }

  void end_entry() {
    if (seen_[0] && seen_[1] && seen_[2]) return;
    throw Malformed(fmt::format(
        "expected dtype, shape and data_offsets of tensor {} but received no {}",
        in_quotes(tensor().name), !seen_[0] ? "dtype" : (!seen_[1] ? "shape" : "data_offsets")));
  }

  void add_metadata(std::string& value) {
    if (metadata_key_.starts_with(kReservedKeyPrefix)) {
      header_.checksums.emplace_back(std::move(metadata_key_), std::move(value));
    } else if (!header_.metadata.try_emplace(metadata_key_, std::move(value)).second) {
      throw Malformed(fmt::format("expected one metadata key {} but received it twice",
                                  in_quotes(metadata_key_)));
    }
  }

  std::string expectation() {
    if (at_ == At::start) return "a JSON object as header";
    if (at_ == At::metadata) return "a string as metadata " + in_quotes(metadata_key_);
    if (at_ == At::file && next_is_metadata_) return "an object as __metadata__";
    const std::string name = in_quotes(tensor().name);
    if (at_ == At::file) return "an object as tensor " + name;
    if (at_ == At::shape) return "up to 64 whole numbers below 2^63 as shape of tensor " + name;
    if (at_ == At::offsets) return "2 whole numbers below 2^63 as data_offsets of tensor " + name;
    if (field_ == Field::dtype) return "a known dtype of tensor " + name;
    return fmt::format("an array as {} of tensor {}",
                       field_ == Field::shape ? "shape" : "data_offsets", name);
  }

  [[noreturn]] void refuse(const std::string& received) {
    throw Malformed(fmt::format("expected {} but received {}", expectation(), received));
  }

  RawHeader& header_;
  At at_ = At::start;
  Field field_ = Field::dtype;
  bool seen_[3] = {};
  int offsets_ = 0;
  bool next_is_metadata_ = false;
  bool has_metadata_ = false;
  std::string metadata_key_;
};

}  // namespace

RawHeader parse_header_json(std::string_view text) {
  // The parser would pass over a byte order mark and stop at a NUL, whatever follows it.
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') {
    throw Malformed(fmt::format(
        "expected a JSON object as header but received {}",
        first == std::string_view::npos ? "white space" : in_quotes(text.substr(first))));
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw Malformed(fmt::format("expected a header of JSON but received NUL at its byte {}", nul));
  }
  RawHeader header;
  HeaderEvents events(header);
  json::sax_parse(text.begin(), text.end(), &events);
  return header;
}

}  // namespace bcos::safetensors
