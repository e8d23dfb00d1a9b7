#include <string>

#include "bcos/methods.hpp"
#include "bcos/schedule.hpp"
#include "bcos/text.hpp"
#include "engine/c/structs.hpp"
#include "engine/method/options.hpp"

using bcos::fail;
using namespace bcos::c;

namespace {

const bcos_tensor kNoTensor = BCOS_TENSOR_INIT;
const bcos_method_options kNoOptions = BCOS_METHOD_OPTIONS_INIT;

}  // namespace

int bcos_method_make(const char* method, const bcos_method_options* options, char* buffer,
                     size_t capacity, size_t* length) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_method_make";
    const bcos::Method base = bcos::c::method(method, kWhere);
    required(options, kWhere, "options");
    const bcos_method_options given = taken(options, kNoOptions, kWhere, "bcos_method_options");
    const std::string text = bcos::to_json(
        bcos::resolve(kWhere, bcos::name_of(base), base, method_options(given, kWhere)));
    if (capacity > 0 && text.size() >= capacity) {
      throw fail(kWhere, "expected a buffer of {} bytes but received one of {}", text.size() + 1,
                 capacity);
    }
    give_text(text, buffer, capacity, length, kWhere);
  });
}

int bcos_method_text(const char* method, char* buffer, size_t capacity, size_t* length) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_method_text";
    give_text(bcos::to_json(bcos::c::method(method, kWhere)), buffer, capacity, length, kWhere);
  });
}

int bcos_method_states(const char* method, uint32_t* states) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_method_states";
    required(states, kWhere, "a place for the states");
    const bcos::StateKinds kinds = bcos::state_kinds(bcos::c::method(method, kWhere));
    *states = (kinds.m ? 1U : 0U) | (kinds.v ? 2U : 0U) | (kinds.u ? 4U : 0U);
  });
}

int bcos_method_blocks(const char* method, const int64_t* shape, int32_t rank, uint64_t* blocks) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_method_blocks";
    required(blocks, kWhere, "a place for the blocks");
    bcos_tensor tensor = kNoTensor;
    tensor.shape = shape;
    tensor.rank = rank;
    *blocks = bcos::block_count(bcos::c::method(method, kWhere).blocks,
                                tensor_view(tensor, kWhere).shape);
  });
}

int bcos_schedule_alpha(const char* schedule, uint64_t t, double* alpha) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_schedule_alpha";
    required(schedule, kWhere, "a schedule");
    required(alpha, kWhere, "a place for alpha");
    *alpha = bcos::alpha_at(bcos::schedule_from_json(schedule), t);
  });
}
