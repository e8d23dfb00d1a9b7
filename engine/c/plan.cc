#include "bcos/update.hpp"
#include "engine/c/structs.hpp"

using bcos::fail;
using namespace bcos::c;

struct bcos_plan {
  bcos::Plan plan;
  bcos::StepOptions options;
  std::size_t groups;
  std::vector<bcos::c::Shape> shapes;
  std::vector<bcos::Gradient> gradients;
};

namespace {

const bcos_gradient kNoGradient = BCOS_GRADIENT_INIT;
const bcos_parameter kNoParameter = BCOS_PARAMETER_INIT;

/// What a gradient says of itself goes with its parameter. Optimizers check the same.
void check_gradient(const bcos_gradient& given, const Shape& parameter, std::size_t index,
                    std::string_view function) {
  if (given.elements == 0) return;
  const bcos::DType received = dtype(given.dtype, function);
  if (given.elements == parameter.elements && received == parameter.dtype) return;
  throw fail(bcos::ErrorCode::mismatch, function,
             "expected {} {} elements as the gradient of parameter {} but received {} of {}",
             parameter.elements, bcos::name(parameter.dtype), index, given.elements,
             bcos::name(received));
}

}  // namespace

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
    std::vector<Shape> shapes;
    list.reserve(parameter_count);
    shapes.reserve(parameter_count);
    for (std::size_t i = 0; i < parameter_count; ++i) {
      const bcos_parameter given = element(parameters, i, kNoParameter, kWhere, "bcos_parameter");
      list.push_back({tensor_view(given.x, kWhere), tensor_view(given.m, kWhere),
                      tensor_view(given.v, kWhere), tensor_view(given.u, kWhere), given.group});
      shapes.push_back(shape_of(list.back().x));
    }
    bcos::StepOptions step_options;
    step_options.guard = chosen.guard;
    step_options.max_norm = chosen.max_norm;
    *plan = new bcos_plan{bcos::Plan(groups, list, {chosen.executor, chosen.target}), step_options,
                          method_count, std::move(shapes),
                          std::vector<bcos::Gradient>(parameter_count)};
  });
}

void bcos_plan_destroy(bcos_plan* plan) { delete plan; }

int bcos_plan_update(bcos_plan* plan, const bcos_gradient* gradients, const double* alphas,
                     uint64_t* steps, double grad_scale, bcos_report* report) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_plan_update";
    required(plan, kWhere, "a plan");
    const std::size_t count = plan->shapes.size();
    if (count > 0) {
      required(gradients, kWhere, "gradients");
      required(steps, kWhere, "steps");
    }
    if (plan->groups > 0) required(alphas, kWhere, "alphas");
    check_report(report, kWhere);
    for (std::size_t i = 0; i < count; ++i) {
      const bcos_gradient given = element(gradients, i, kNoGradient, kWhere, "bcos_gradient");
      check_gradient(given, plan->shapes[i], i, kWhere);
      plan->gradients[i] = gradient(given, plan->shapes[i]);
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
