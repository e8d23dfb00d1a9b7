#include <fmt/ranges.h>

#include <algorithm>

#include "bcos/text.hpp"
#include "engine/error.hpp"
#include "engine/method/numbers.hpp"
#include "engine/optimizer/optimizer_impl.hpp"

/// Saving, loading and converting the state of an optimizer.
namespace bcos {
namespace {

std::string method_label(const Method& method) {
  const std::string known = name_of(method);
  return known.empty() ? to_json(method) : known;
}

}  // namespace

/// One state of a parameter with the bytes a file has for it.
struct Optimizer::Impl::Incoming {
  std::span<std::byte> to;
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
  for (std::size_t i = 0; i < plan_.parameters(); ++i) {
    const Parameter p = plan_.parameter(i);
    const auto add = [&](std::string_view state, const StateBuffer& buffer, Dims shape, bool kept) {
      if (!kept) return;
      tensors.push_back({state_name(state, p.name),
                         std::string(file_dtype(p.x.dtype)),
                         {shape.begin(), shape.end()},
                         buffer.bytes()});
    };
    const StateKinds kinds = state_kinds(plan_.method(p.group));
    add("m", states_[i].m, p.x.shape, kinds.m);
    add("v", states_[i].v, p.v.shape, kinds.v);
    add("u", states_[i].u, p.x.shape, kinds.u);
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
                                                const StateBuffer& to, Dims shape) const {
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
  Incoming incoming{to.bytes(), std::vector<std::byte>(to.bytes().size())};
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
    if (kinds.m) states.push_back(read(file, "m", i, states_[i].m, p.x.shape));
    if (kinds.v) states.push_back(read(file, "v", i, states_[i].v, p.v.shape));
    if (kinds.u) states.push_back(read(file, "u", i, states_[i].u, p.x.shape));
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
    states.push_back(read(file, "m", i, states_[i].m, p.x.shape));
  }
  take(states, entries, header.skipped_steps);
}

void Optimizer::Impl::take(const std::vector<Incoming>& states,
                           std::span<const StateFileHeader::Entry* const> entries,
                           std::uint64_t skipped_steps) {
  for (const Incoming& state : states) std::ranges::copy(state.bytes, state.to.begin());
  for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i] = entries[i]->steps;
  skipped_steps_ = skipped_steps;
}

}  // namespace bcos
