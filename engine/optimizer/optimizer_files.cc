#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "bcos/text.hpp"
#include "engine/error.hpp"
#include "engine/method/numbers.hpp"
#include "engine/optimizer/optimizer_impl.hpp"
#include "engine/update/strides.hpp"

/// Saving, loading and converting the state of an optimizer.
namespace bcos {
namespace {

std::string method_label(const Method& method) {
  const std::string known = name_of(method);
  return known.empty() ? to_json(method) : known;
}

/// Files hold states row-major; in memory they lie as their parameter does. Calls copy(element in
/// the file, element in memory).
template <class Bytes, class Copy>
void for_each_element(Bytes* file, const TensorView& state, const Copy& copy) {
  const Strides strides(state.shape, state.strides, bytes_of(state.dtype));
  const auto visit = [&]<class T>(T* memory) {
    strides.for_each(0, strides.size(), 1, [&](std::uint64_t i, std::int64_t at) {
      copy(file + i * sizeof(T), memory + at, sizeof(T));
    });
  };
  state.dtype == DType::f32 ? visit(static_cast<float*>(state.data))
                            : visit(static_cast<double*>(state.data));
}

std::vector<std::byte> row_major(const TensorView& state) {
  std::vector<std::byte> bytes(element_count(state.shape) * bytes_of(state.dtype));
  for_each_element(bytes.data(), state, [](std::byte* file, const void* memory, std::size_t n) {
    std::memcpy(file, memory, n);
  });
  return bytes;
}

void put_row_major(std::span<const std::byte> bytes, const TensorView& state) {
  for_each_element(bytes.data(), state, [](const std::byte* file, void* memory, std::size_t n) {
    std::memcpy(memory, file, n);
  });
}

}  // namespace

/// One state of a parameter with the bytes a file has for it.
struct Optimizer::Impl::Incoming {
  TensorView to;
  std::vector<std::byte> bytes;
};

StateFileHeader Optimizer::Impl::header() const {
  StateFileHeader header;
  for (std::size_t k = 0; k < plan_.groups(); ++k) header.groups.push_back(plan_.method(k));
  header.skipped_steps = skipped_steps_;
  for (std::size_t i = 0; i < plan_.parameters(); ++i) {
    const Parameter p = plan_.parameter(i);
    header.parameters.push_back(
        {std::string(p.name), {p.x.shape.begin(), p.x.shape.end()}, p.x.dtype, p.group, steps_[i]});
  }
  return header;
}

void Optimizer::Impl::save(const std::string& path) const {
  std::vector<safetensors::TensorData> tensors;
  std::deque<std::vector<std::byte>> copies;
  for (std::size_t i = 0; i < plan_.parameters(); ++i) {
    const Parameter p = plan_.parameter(i);
    const auto add = [&](std::string_view name, const TensorView& state, Dims shape,
                         const StateBuffer& buffer) {
      std::span<const std::byte> bytes = buffer.bytes();
      if (!state.strides.empty()) bytes = copies.emplace_back(row_major(state));
      tensors.push_back({state_name(name, p.name),
                         std::string(file_dtype(p.x.dtype)),
                         {shape.begin(), shape.end()},
                         bytes});
    };
    const Method& method = plan_.method(p.group);
    const StateKinds kinds = state_kinds(method);
    const std::int64_t blocks[] = {
        static_cast<std::int64_t>(block_count(method.blocks, p.x.shape))};
    if (kinds.m) add("m", p.m, p.x.shape, states_[i].m);
    if (kinds.v) add("v", p.v, blocks, states_[i].v);
    if (kinds.u) add("u", p.u, p.x.shape, states_[i].u);
  }
  safetensors::write(path, tensors, to_metadata(header()));
}

std::vector<const StateFileHeader::Entry*> Optimizer::Impl::matched(const StateFileHeader& header,
                                                                    const std::string& path) const {
  std::vector<const StateFileHeader::Entry*> entries(plan_.parameters(), nullptr);
  for (const StateFileHeader::Entry& entry : header.parameters) {
    const auto found = by_name_.find(entry.name);
    if (found == by_name_.end()) {
      throw fail(ErrorCode::mismatch, "load",
                 "expected the optimizer's parameters but received '{}' in '{}', which it does not "
                 "have",
                 entry.name, path);
    }
    const Parameter p = plan_.parameter(found->second);
    if (!std::ranges::equal(entry.shape, p.x.shape)) {
      throw fail(ErrorCode::mismatch, "load", "expected shape [{}] for '{}' but received [{}]",
                 fmt::join(p.x.shape, ", "), p.name, fmt::join(entry.shape, ", "));
    }
    if (entry.dtype != p.x.dtype) {
      throw fail(ErrorCode::mismatch, "load", "expected dtype {} for '{}' but received {}",
                 bcos::name(p.x.dtype), p.name, bcos::name(entry.dtype));
    }
    entries[found->second] = &entry;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i] == nullptr) {
      throw fail(ErrorCode::mismatch, "load", "expected state for '{}' but '{}' has none",
                 plan_.parameter(i).name, path);
    }
  }
  return entries;
}

Optimizer::Impl::Incoming Optimizer::Impl::read(const safetensors::File& file,
                                                std::string_view state, std::size_t i,
                                                const TensorView& to, Dims shape) const {
  const Parameter p = plan_.parameter(i);
  const std::string name = state_name(state, p.name);
  const std::string_view dtype = file_dtype(p.x.dtype);
  const safetensors::TensorInfo* info = file.find(name);
  if (info == nullptr || info->dtype != dtype ||
      !std::ranges::equal(info->shape, shape, [](std::uint64_t a, std::int64_t b) {
        return a == static_cast<std::uint64_t>(b);
      })) {
    throw fail(ErrorCode::mismatch, "load", "expected tensor '{}' as {} of shape [{}] in '{}'",
               name, dtype, fmt::join(shape, ", "), file.path());
  }
  Incoming incoming{to, std::vector<std::byte>(element_count(shape) * bytes_of(p.x.dtype))};
  file.read(*info, incoming.bytes);
  return incoming;
}

void Optimizer::Impl::load(const std::string& path, const LoadOptions& options) {
  const safetensors::File file = safetensors::File::open(path);
  const StateFileHeader header = read_state_header(file);
  const auto entries = matched(header, path);
  std::vector<Incoming> states;
  for (std::size_t i = 0; i < plan_.parameters(); ++i) {
    const Parameter p = plan_.parameter(i);
    const Method& ours = plan_.method(p.group);
    const Method& theirs = header.groups[entries[i]->group];
    if ((options.other_numbers ? with_numbers(theirs, ours) : theirs) != ours) {
      throw fail(ErrorCode::mismatch, "load",
                 "expected the state of {} for '{}' but received that of {}: {}",
                 method_label(ours), p.name, method_label(theirs),
                 with_numbers(theirs, ours) == ours
                     ? "only numbers differ, other_numbers accepts that"
                     : "convert() keeps the momentum of another method");
    }
    const StateKinds kinds = state_kinds(ours);
    const std::int64_t blocks[] = {static_cast<std::int64_t>(block_count(ours.blocks, p.x.shape))};
    if (kinds.m) states.push_back(read(file, "m", i, p.m, p.x.shape));
    if (kinds.v) states.push_back(read(file, "v", i, p.v, blocks));
    if (kinds.u) states.push_back(read(file, "u", i, p.u, p.x.shape));
  }
  take(states, entries, header.skipped_steps);
}

void Optimizer::Impl::convert(const std::string& path) {
  for (std::size_t k = 0; k < plan_.groups(); ++k) {
    const Method& method = plan_.method(k);
    const StateKinds kinds = state_kinds(method);
    if (!kinds.m || kinds.v || kinds.u) {
      throw fail("convert", "expected a method that keeps momentum alone but received {}",
                 method_label(method));
    }
  }
  const safetensors::File file = safetensors::File::open(path);
  const StateFileHeader header = read_state_header(file);
  const auto entries = matched(header, path);
  std::vector<Incoming> states;
  for (std::size_t i = 0; i < plan_.parameters(); ++i) {
    const Parameter p = plan_.parameter(i);
    const Method& theirs = header.groups[entries[i]->group];
    if (!state_kinds(theirs).m) {
      throw fail(ErrorCode::mismatch, "convert",
                 "expected a file with momentum for '{}' but received that of {}", p.name,
                 method_label(theirs));
    }
    states.push_back(read(file, "m", i, p.m, p.x.shape));
  }
  take(states, entries, header.skipped_steps);
}

void Optimizer::Impl::take(const std::vector<Incoming>& states,
                           std::span<const StateFileHeader::Entry* const> entries,
                           std::uint64_t skipped_steps) {
  for (const Incoming& state : states) put_row_major(state.bytes, state.to);
  for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i] = entries[i]->steps;
  skipped_steps_ = skipped_steps;
}

}  // namespace bcos
