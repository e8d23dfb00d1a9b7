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
  header.groups = groups_;
  header.skipped_steps = skipped_steps_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const OwnedParameter& p = parameters_[i];
    header.parameters.push_back({p.name, p.shape, p.dtype, p.group, steps_[i]});
  }
  return header;
}

void Optimizer::Impl::save(const std::string& path) const {
  std::vector<safetensors::TensorData> tensors;
  for (const OwnedParameter& p : parameters_) {
    const auto add = [&](std::string_view state, const StateBuffer& buffer,
                         std::span<const std::int64_t> shape, bool kept) {
      if (!kept) return;
      tensors.push_back({state_name(state, p.name),
                         std::string(file_dtype(p.dtype)),
                         {shape.begin(), shape.end()},
                         buffer.bytes()});
    };
    const StateKinds kinds = state_kinds(groups_[p.group]);
    add("m", p.m, p.shape, kinds.m);
    add("v", p.v, p.blocks, kinds.v);
    add("u", p.u, p.shape, kinds.u);
  }
  safetensors::write(path, tensors, to_metadata(header()));
}

std::vector<const StateFileHeader::Entry*> Optimizer::Impl::matched(const StateFileHeader& header,
                                                                    const std::string& path) const {
  std::vector<const StateFileHeader::Entry*> entries(parameters_.size(), nullptr);
  for (const StateFileHeader::Entry& entry : header.parameters) {
    const auto found = by_name_.find(entry.name);
    if (found == by_name_.end()) {
      throw fail(ErrorCode::mismatch, "load",
                 "expected the optimizer's parameters but received '{}' in '{}', which it does not "
                 "have",
                 entry.name, path);
    }
    const OwnedParameter& p = parameters_[found->second];
    if (entry.shape != p.shape) {
      throw fail(ErrorCode::mismatch, "load", "expected shape [{}] for '{}' but received [{}]",
                 fmt::join(p.shape, ", "), p.name, fmt::join(entry.shape, ", "));
    }
    if (entry.dtype != p.dtype) {
      throw fail(ErrorCode::mismatch, "load", "expected dtype {} for '{}' but received {}",
                 bcos::name(p.dtype), p.name, bcos::name(entry.dtype));
    }
    entries[found->second] = &entry;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i] == nullptr) {
      throw fail(ErrorCode::mismatch, "load", "expected state for '{}' but '{}' has none",
                 parameters_[i].name, path);
    }
  }
  return entries;
}

Optimizer::Impl::Incoming Optimizer::Impl::read(const safetensors::File& file,
                                                std::string_view state, const OwnedParameter& p,
                                                const StateBuffer& to,
                                                std::span<const std::int64_t> shape) const {
  const std::string name = state_name(state, p.name);
  const safetensors::TensorInfo* info = file.find(name);
  if (info == nullptr || info->dtype != file_dtype(p.dtype) ||
      !std::ranges::equal(info->shape, shape, [](std::uint64_t a, std::int64_t b) {
        return a == static_cast<std::uint64_t>(b);
      })) {
    throw fail(ErrorCode::mismatch, "load", "expected tensor '{}' as {} of shape [{}] in '{}'",
               name, file_dtype(p.dtype), fmt::join(shape, ", "), file.path());
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
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const OwnedParameter& p = parameters_[i];
    const Method& ours = groups_[p.group];
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
    if (kinds.m) states.push_back(read(file, "m", p, p.m, p.shape));
    if (kinds.v) states.push_back(read(file, "v", p, p.v, p.blocks));
    if (kinds.u) states.push_back(read(file, "u", p, p.u, p.shape));
  }
  take(states, entries, header.skipped_steps);
}

void Optimizer::Impl::convert(const std::string& path) {
  for (const Method& method : groups_) {
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
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const OwnedParameter& p = parameters_[i];
    const Method& theirs = header.groups[entries[i]->group];
    if (!state_kinds(theirs).m) {
      throw fail(ErrorCode::mismatch, "convert",
                 "expected a file with momentum for '{}' but received that of {}", p.name,
                 method_label(theirs));
    }
    states.push_back(read(file, "m", p, p.m, p.shape));
  }
  take(states, entries, header.skipped_steps);
}

void Optimizer::Impl::take(const std::vector<Incoming>& states,
                           std::span<const StateFileHeader::Entry* const> entries,
                           std::uint64_t skipped_steps) {
  for (const Incoming& state : states) std::ranges::copy(state.bytes, state.to.begin());
  for (std::size_t i = 0; i < parameters_.size(); ++i) steps_[i] = entries[i]->steps;
  skipped_steps_ = skipped_steps;
}

}  // namespace bcos
