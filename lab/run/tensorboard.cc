#include "lab/run/tensorboard.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <span>

#include "bcos/safetensors.hpp"
#include "engine/error.hpp"
#include "lab/run/file_system.hpp"

namespace bcos::lab::run {
namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";
constexpr std::size_t kPendingBytes = std::size_t{1} << 16;

template <class Unsigned>
void put_fixed(std::string& out, Unsigned value) {
  for (std::size_t i = 0; i < sizeof(value); ++i) out += static_cast<char>(value >> (8 * i));
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

/// How a field of a protocol buffer is coded on the wire.
enum class Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

void put_key(std::string& out, unsigned field, Wire wire) {
  put_varint(out, (field << 3) | static_cast<unsigned>(wire));
}

void put_bytes(std::string& out, unsigned field, std::string_view value) {
  put_key(out, field, Wire::bytes);
  put_varint(out, value.size());
  out += value;
}

// The fields of tensorflow.Event, .Summary, .Summary.Value and .SessionLog that are written here.
constexpr unsigned kEventWallTime = 1;
constexpr unsigned kEventStep = 2;
constexpr unsigned kEventFileVersion = 3;
constexpr unsigned kEventSummary = 5;
constexpr unsigned kEventSessionLog = 7;
constexpr unsigned kSummaryValue = 1;
constexpr unsigned kValueTag = 1;
constexpr unsigned kValueSimpleValue = 2;
constexpr unsigned kSessionLogStatus = 1;
constexpr unsigned kSessionLogStart = 1;

std::string event_at(double wall_time, std::uint64_t step) {
  std::string event;
  put_key(event, kEventWallTime, Wire::fixed64);
  put_fixed(event, std::bit_cast<std::uint64_t>(wall_time));
  if (step != 0) {
    put_key(event, kEventStep, Wire::varint);
    put_varint(event, step);
  }
  return event;
}

/// A checksum of data that themselves contain checksums is weak, so TFRecord turns and shifts it.
std::uint32_t masked_crc(std::string_view data) {
  const std::uint32_t crc = safetensors::crc32c(std::as_bytes(std::span(data)));
  return std::rotr(crc, 15) + 0xA282EAD8U;
}

double clock_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// The largest <seconds> of the event files in a directory, 0 without any.
std::uint64_t latest_seconds(const std::string& directory) {
  std::uint64_t latest = 0;
  for (const std::string& name : names_in("tensorboard", directory)) {
    if (!name.starts_with(kPrefix)) continue;
    std::uint64_t seconds = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), seconds);
    latest = std::max(latest, seconds);
  }
  return latest;
}

}  // namespace

EventFile::EventFile(const std::string& directory, std::uint64_t first_step) {
  const double now = clock_seconds();
  const std::uint64_t seconds =
      std::max(static_cast<std::uint64_t>(now), latest_seconds(directory) + 1);
  path_ = fmt::format("{}/{}{:010}.{}.{}", directory, kPrefix, seconds, host_name(), ::getpid());
  file_ = safetensors::open_descriptor(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666);
  if (file_.get() < 0) throw safetensors::io_error("tensorboard", "create", errno, path_);
  begin(now, first_step);
}

EventFile::~EventFile() {
  try {
    flush();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a destructor has nobody to tell
  }
}

void EventFile::begin(double wall_time, std::uint64_t first_step) {
  std::string version = event_at(wall_time, 0);
  put_bytes(version, kEventFileVersion, "brain.Event:2");
  add_record(version);
  // TensorBoard takes the first start of a session for the run's own, and each later one for that
  // of a resumed run: so a new run needs one too.
  std::string log;
  put_key(log, kSessionLogStatus, Wire::varint);
  put_varint(log, kSessionLogStart);
  std::string start = event_at(wall_time, first_step);
  put_bytes(start, kEventSessionLog, log);
  add_record(start);
  flush();
}

void EventFile::scalar(std::uint64_t step, double wall_time, std::string_view tag, double value) {
  std::string point;
  put_bytes(point, kValueTag, tag);
  put_key(point, kValueSimpleValue, Wire::fixed32);
  put_fixed(point, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  std::string points;
  put_bytes(points, kSummaryValue, point);
  std::string event = event_at(wall_time, step);
  put_bytes(event, kEventSummary, points);
  add_record(event);
  if (pending_.size() >= kPendingBytes) flush();
}

void EventFile::add_record(std::string_view event) {
  std::string length;
  put_fixed(length, std::uint64_t{event.size()});
  pending_ += length;
  put_fixed(pending_, masked_crc(length));
  pending_ += event;
  put_fixed(pending_, masked_crc(event));
}

void EventFile::flush() {
  const std::size_t wanted = pending_.size();
  const std::size_t written = write_all(file_, pending_);
  const int code = errno;
  pending_.erase(0, written);
  if (written < wanted)
    throw safetensors::write_error("tensorboard", "write", code, path_, wanted - written);
}

}  // namespace bcos::lab::run
