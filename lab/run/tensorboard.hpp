#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/safetensors/file_io.hpp"

namespace bcos::lab::run {

/// A file of scalars that TensorBoard shows. TensorBoard reads all event files of a directory as
/// one run, in the order of their names, so a resumed run adds a file of its own.
class EventFile {
 public:
  /// Makes "events.out.tfevents.<seconds>.<host>.<pid>" in a directory that exists; the seconds
  /// are those of the clock, or later, so that the name comes after all others there. A resumed run
  /// says which step comes first: TensorBoard drops the points of earlier files from there on.
  explicit EventFile(const std::string& directory, std::uint64_t first_step = 0);
  /// Writes what is left; a failure is lost. flush() says it.
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  /// Adds a point; `wall_time` is in seconds since 1970. TensorBoard keeps 32 bits of the value.
  /// Written now and then, and by flush(). Throws Error(io).
  void scalar(std::uint64_t step, double wall_time, std::string_view tag, double value);

  /// Hands all points to the system. After an Error(io) nothing is lost: the next call goes on
  /// where the disk was full.
  void flush();

  const std::string& path() const { return path_; }

 private:
  void begin(double wall_time, std::uint64_t first_step);
  void add_record(std::string_view event);

  std::string path_;
  safetensors::Descriptor file_;
  std::string pending_;
};

}  // namespace bcos::lab::run
