#include <string>

#include "bcos/bcos.h"
#include "bcos/executor.hpp"
#include "bcos/memory.hpp"
#include "bcos/optimizer.hpp"
#include "bcos/schedule.hpp"
#include "bcos/target.hpp"
#include "bcos/text.hpp"
#include "engine/c/guarded.hpp"
#include "engine/c/structs.hpp"
#include "engine/make_room.hpp"

using bcos::fail;
using bcos::c::element;
using bcos::c::guarded;
using bcos::c::required;

struct bcos_optimizer {
  bcos::Optimizer optimizer;
  std::vector<std::size_t> ranks;
  std::vector<bcos::ParameterGradient> gradients;
};

struct bcos_plan {
  bcos::Plan plan;
  bcos::StepOptions options;
  std::size_t groups;
  std::vector<std::size_t> ranks;
  std::vector<bcos::Gradient> gradients;
};

namespace bcos::c {
namespace {

constexpr std::size_t kMessage = 1024;
thread_local char last_message[kMessage] = "";

const bcos_gradient kNoGradient = BCOS_GRADIENT_INIT;
const bcos_tensor kNoTensor = BCOS_TENSOR_INIT;
const bcos_parameter kNoParameter = BCOS_PARAMETER_INIT;

void check_report(const bcos_report* report, std::string_view function) {
  if (report != nullptr) shared_size<bcos_report>(report, function, "bcos_report");
}

}  // namespace

int failed(int code, std::string_view message) noexcept {
  const std::size_t length = message.copy(last_message, kMessage - 1);
  last_message[length] = '\0';
  return code;
}

}  // namespace bcos::c

using namespace bcos::c;

const char* bcos_version(void) { return BCOS_VERSION_STRING; }
const char* bcos_error_message(void) { return last_message; }

const char* bcos_target(void) {
  const char* name = "";
  guarded([&] { name = bcos::name(bcos::default_target()).data(); });
  return name;
}

int bcos_threads(void) {
  int threads = 0;
  guarded([&] { threads = bcos::default_threads(); });
  return threads;
}

int bcos_set_threads(int threads) {
  return guarded([&] { bcos::set_default_threads(threads); });
}

int bcos_optimizer_create(const char* method, const bcos_options* options,
                          bcos_optimizer** optimizer) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_create";
    required(optimizer, kWhere, "a place for the optimizer");
    *optimizer = new bcos_optimizer{
        bcos::Optimizer(bcos::c::method(method, kWhere), {}, bcos::c::options(options, kWhere)),
        {},
        {}};
  });
}

void bcos_optimizer_destroy(bcos_optimizer* optimizer) { delete optimizer; }

int bcos_optimizer_add_group(bcos_optimizer* optimizer, const char* method, uint64_t* group) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_add_group";
    required(optimizer, kWhere, "an optimizer");
    const bcos::GroupId id = optimizer->optimizer.add_group(bcos::c::method(method, kWhere));
    if (group != nullptr) *group = id.index;
  });
}

int bcos_optimizer_add(bcos_optimizer* optimizer, const char* name, const bcos_tensor* parameter,
                       uint64_t group, uint64_t* id) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_add";
    required(optimizer, kWhere, "an optimizer");
    required(name, kWhere, "a name");
    const bcos_tensor tensor =
        taken(&required(parameter, kWhere, "a parameter"), kNoTensor, kWhere, "bcos_tensor");
    bcos::make_room(optimizer->ranks);
    const bcos::ParameterId added =
        optimizer->optimizer.add(name, tensor_view(tensor, kWhere), bcos::GroupId{group});
    optimizer->ranks.push_back(static_cast<std::size_t>(tensor.rank));
    if (id != nullptr) *id = added.index;
  });
}

int bcos_optimizer_step(bcos_optimizer* optimizer, const double* alphas, size_t alpha_count,
                        const bcos_gradient* gradients, size_t gradient_count,
                        bcos_report* report) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_step";
    required(optimizer, kWhere, "an optimizer");
    if (alpha_count > 0) required(alphas, kWhere, "alphas");
    if (gradient_count > 0) required(gradients, kWhere, "gradients");
    check_report(report, kWhere);
    optimizer->gradients.clear();
    for (std::size_t i = 0; i < gradient_count; ++i) {
      const bcos_gradient given = element(gradients, i, kNoGradient, kWhere, "bcos_gradient");
      if (given.parameter >= optimizer->ranks.size()) {
        throw fail(kWhere, "expected parameter < {} but received {}", optimizer->ranks.size(),
                   given.parameter);
      }
      optimizer->gradients.emplace_back(bcos::ParameterId{given.parameter},
                                        gradient(given, optimizer->ranks[given.parameter]));
    }
    give_report(optimizer->optimizer.step({alphas, alpha_count}, optimizer->gradients), report,
                kWhere);
  });
}

int bcos_optimizer_set_numbers(bcos_optimizer* optimizer, uint64_t group, const char* method) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_set_numbers";
    required(optimizer, kWhere, "an optimizer");
    optimizer->optimizer.replace_numbers(bcos::GroupId{group}, bcos::c::method(method, kWhere));
  });
}

int bcos_optimizer_save(const bcos_optimizer* optimizer, const char* path) {
  return guarded([&] {
    required(optimizer, "bcos_optimizer_save", "an optimizer");
    optimizer->optimizer.save(&required(path, "bcos_optimizer_save", "a path"));
  });
}

int bcos_optimizer_load(bcos_optimizer* optimizer, const char* path) {
  return guarded([&] {
    required(optimizer, "bcos_optimizer_load", "an optimizer");
    optimizer->optimizer.load(&required(path, "bcos_optimizer_load", "a path"));
  });
}

int bcos_optimizer_load_state(bcos_optimizer* optimizer, const char* path) {
  return guarded([&] {
    required(optimizer, "bcos_optimizer_load_state", "an optimizer");
    optimizer->optimizer.load(&required(path, "bcos_optimizer_load_state", "a path"),
                              {.other_numbers = true});
  });
}

int bcos_optimizer_convert(bcos_optimizer* optimizer, const char* path) {
  return guarded([&] {
    required(optimizer, "bcos_optimizer_convert", "an optimizer");
    optimizer->optimizer.convert(&required(path, "bcos_optimizer_convert", "a path"));
  });
}

int bcos_optimizer_state(const bcos_optimizer* optimizer, uint64_t id, const char* state,
                         void** data, uint64_t* elements) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_state";
    required(optimizer, kWhere, "an optimizer");
    required(data, kWhere, "a place for the data");
    const std::string_view which(&required(state, kWhere, "a state"));
    if (which != "m" && which != "v" && which != "u") {
      throw fail(kWhere, "expected state m, v or u but received '{}'", which);
    }
    const bcos::ParameterState all = optimizer->optimizer.state(bcos::ParameterId{id});
    const bcos::TensorView& view = which == "m" ? all.m : which == "v" ? all.v : all.u;
    *data = view.data;
    if (elements != nullptr) *elements = view.data == nullptr ? 0 : bcos::element_count(view.shape);
  });
}

int bcos_optimizer_steps(const bcos_optimizer* optimizer, uint64_t id, uint64_t* steps) {
  return guarded([&] {
    required(optimizer, "bcos_optimizer_steps", "an optimizer");
    required(steps, "bcos_optimizer_steps", "a place for the steps");
    *steps = optimizer->optimizer.state(bcos::ParameterId{id}).steps;
  });
}

int bcos_optimizer_set_steps(bcos_optimizer* optimizer, uint64_t id, uint64_t steps) {
  return guarded([&] {
    required(optimizer, "bcos_optimizer_set_steps", "an optimizer");
    optimizer->optimizer.set_steps(bcos::ParameterId{id}, steps);
  });
}

int bcos_optimizer_state_bytes(const bcos_optimizer* optimizer, uint64_t* bytes) {
  return guarded([&] {
    required(optimizer, "bcos_optimizer_state_bytes", "an optimizer");
    required(bytes, "bcos_optimizer_state_bytes", "a place for the bytes");
    *bytes = optimizer->optimizer.state_bytes();
  });
}

int bcos_plan_create(const char* const* methods, size_t method_count,
                     const bcos_parameter* parameters, size_t parameter_count,
                     const bcos_options* options, bcos_plan** plan) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_plan_create";
    required(plan, kWhere, "a place for the plan");
    if (method_count > 0) required(methods, kWhere, "methods");
    if (parameter_count > 0) required(parameters, kWhere, "parameters");
    const bcos::OptimizerOptions chosen = bcos::c::options(options, kWhere);
    std::vector<bcos::Method> groups;
    groups.reserve(method_count);
    for (std::size_t k = 0; k < method_count; ++k) {
      groups.push_back(bcos::c::method(methods[k], kWhere));
    }
    std::vector<bcos::Parameter> list;
    std::vector<std::size_t> ranks;
    list.reserve(parameter_count);
    ranks.reserve(parameter_count);
    for (std::size_t i = 0; i < parameter_count; ++i) {
      const bcos_parameter given = element(parameters, i, kNoParameter, kWhere, "bcos_parameter");
      list.push_back({tensor_view(given.x, kWhere), tensor_view(given.m, kWhere),
                      tensor_view(given.v, kWhere), tensor_view(given.u, kWhere), given.group});
      ranks.push_back(static_cast<std::size_t>(given.x.rank));
    }
    bcos::StepOptions step_options;
    step_options.guard = chosen.guard;
    step_options.max_norm = chosen.max_norm;
    *plan =
        new bcos_plan{bcos::Plan(groups, list, {chosen.executor, chosen.target}), step_options,
                      method_count, std::move(ranks), std::vector<bcos::Gradient>(parameter_count)};
  });
}

void bcos_plan_destroy(bcos_plan* plan) { delete plan; }

int bcos_plan_update(bcos_plan* plan, const bcos_gradient* gradients, const double* alphas,
                     uint64_t* steps, double grad_scale, bcos_report* report) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_plan_update";
    required(plan, kWhere, "a plan");
    const std::size_t count = plan->ranks.size();
    if (count > 0) {
      required(gradients, kWhere, "gradients");
      required(steps, kWhere, "steps");
    }
    if (plan->groups > 0) required(alphas, kWhere, "alphas");
    check_report(report, kWhere);
    for (std::size_t i = 0; i < count; ++i) {
      plan->gradients[i] =
          gradient(element(gradients, i, kNoGradient, kWhere, "bcos_gradient"), plan->ranks[i]);
    }
    bcos::StepOptions options = plan->options;
    options.grad_scale = grad_scale;
    give_report(plan->plan.update(plan->gradients, {alphas, plan->groups}, {steps, count}, options),
                report, kWhere);
  });
}

int bcos_plan_set_numbers(bcos_plan* plan, size_t group, const char* method) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_plan_set_numbers";
    required(plan, kWhere, "a plan");
    plan->plan.set_numbers(group, bcos::c::method(method, kWhere));
  });
}

int bcos_prefer_huge_pages(void* memory, uint64_t bytes) {
  return guarded([&] {
    if (bytes > 0) required(static_cast<char*>(memory), "bcos_prefer_huge_pages", "memory");
    bcos::prefer_huge_pages(memory, bytes);
  });
}

int bcos_method_text(const char* method, char* buffer, size_t capacity, size_t* length) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_method_text";
    const std::string text = bcos::to_json(bcos::c::method(method, kWhere));
    if (capacity > 0) {
      required(buffer, kWhere, "a buffer");
      buffer[text.copy(buffer, capacity - 1)] = '\0';
    }
    if (length != nullptr) *length = text.size();
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
