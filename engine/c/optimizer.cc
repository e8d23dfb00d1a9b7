#include "bcos/optimizer.hpp"

#include <cmath>
#include <string>

#include "bcos/text.hpp"
#include "engine/c/structs.hpp"
#include "engine/make_room.hpp"

using bcos::fail;
using namespace bcos::c;

struct bcos_optimizer {
  bcos::Optimizer optimizer;
  double grad_scale = 1;
  std::vector<bcos::c::Shape> shapes = {};
  std::vector<bcos::ParameterGradient> gradients = {};
};

namespace {

const bcos_gradient kNoGradient = BCOS_GRADIENT_INIT;
const bcos_tensor kNoTensor = BCOS_TENSOR_INIT;

/// The gradient of parameter `id`, with what it says of itself to be checked by the step.
bcos::ParameterGradient parameter_gradient(const bcos_gradient& given, const Shape& parameter,
                                           std::string_view function) {
  bcos::ParameterGradient result(bcos::ParameterId{given.parameter}, gradient(given, parameter));
  if (given.elements > 0) {
    result.checked = true;
    result.elements = given.elements;
    result.dtype = dtype(given.dtype, function);
  }
  return result;
}

}  // namespace

int bcos_optimizer_create(const char* method, const bcos_options* options,
                          bcos_optimizer** optimizer) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_create";
    required(optimizer, kWhere, "a place for the optimizer");
    *optimizer = new bcos_optimizer{
        bcos::Optimizer(bcos::c::method(method, kWhere), {}, bcos::c::options(options, kWhere))};
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
    const bcos::TensorView view = tensor_view(tensor, kWhere);
    bcos::make_room(optimizer->shapes);
    const bcos::ParameterId added = optimizer->optimizer.add(name, view, bcos::GroupId{group});
    optimizer->shapes.push_back(shape_of(view));
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
      if (given.parameter >= optimizer->shapes.size()) {
        throw fail(kWhere, "expected parameter < {} but received {}", optimizer->shapes.size(),
                   given.parameter);
      }
      optimizer->gradients.push_back(
          parameter_gradient(given, optimizer->shapes[given.parameter], kWhere));
    }
    bcos::Optimizer& engine = optimizer->optimizer;
    const double scale = optimizer->grad_scale;
    give_report(alpha_count == 1 ? engine.step(*alphas, optimizer->gradients, scale)
                                 : engine.step({alphas, alpha_count}, optimizer->gradients, scale),
                report, kWhere);
  });
}

int bcos_optimizer_set_numbers(bcos_optimizer* optimizer, uint64_t group, const char* method) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_set_numbers";
    required(optimizer, kWhere, "an optimizer");
    optimizer->optimizer.replace_numbers(bcos::GroupId{group}, bcos::c::method(method, kWhere));
  });
}

int bcos_optimizer_set_grad_scale(bcos_optimizer* optimizer, double grad_scale) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_set_grad_scale";
    required(optimizer, kWhere, "an optimizer");
    if (grad_scale == 0 || !std::isfinite(grad_scale)) {
      throw fail(kWhere, "expected a finite grad_scale other than 0 but received {}", grad_scale);
    }
    optimizer->grad_scale = grad_scale;
  });
}

int bcos_optimizer_set_max_norm(bcos_optimizer* optimizer, double max_norm) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_set_max_norm";
    required(optimizer, kWhere, "an optimizer");
    optimizer->optimizer.set_max_norm(bcos::c::max_norm(max_norm, kWhere));
  });
}

int bcos_optimizer_move(bcos_optimizer* optimizer, uint64_t id, void* data) {
  return guarded([&] {
    required(optimizer, "bcos_optimizer_move", "an optimizer");
    optimizer->optimizer.move(bcos::ParameterId{id}, data);
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

int bcos_optimizer_parameters(const bcos_optimizer* optimizer, uint64_t* count) {
  return guarded([&] {
    required(optimizer, "bcos_optimizer_parameters", "an optimizer");
    required(count, "bcos_optimizer_parameters", "a place for the count");
    *count = optimizer->optimizer.parameters();
  });
}

int bcos_optimizer_name(const bcos_optimizer* optimizer, uint64_t id, char* buffer, size_t capacity,
                        size_t* length) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_name";
    required(optimizer, kWhere, "an optimizer");
    give_text(optimizer->optimizer.name(bcos::ParameterId{id}), buffer, capacity, length, kWhere);
  });
}

int bcos_optimizer_find(const bcos_optimizer* optimizer, const char* name, uint64_t* id) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_find";
    required(optimizer, kWhere, "an optimizer");
    required(name, kWhere, "a name");
    required(id, kWhere, "a place for the id");
    *id = optimizer->optimizer.find(name).index;
  });
}

int bcos_optimizer_groups(const bcos_optimizer* optimizer, uint64_t* count) {
  return guarded([&] {
    required(optimizer, "bcos_optimizer_groups", "an optimizer");
    required(count, "bcos_optimizer_groups", "a place for the count");
    *count = optimizer->optimizer.groups();
  });
}

int bcos_optimizer_method(const bcos_optimizer* optimizer, uint64_t group, char* buffer,
                          size_t capacity, size_t* length) {
  return guarded([&] {
    constexpr auto kWhere = "bcos_optimizer_method";
    required(optimizer, kWhere, "an optimizer");
    give_text(bcos::to_json(optimizer->optimizer.method(bcos::GroupId{group})), buffer, capacity,
              length, kWhere);
  });
}

int bcos_optimizer_skipped_steps(const bcos_optimizer* optimizer, uint64_t* steps) {
  return guarded([&] {
    required(optimizer, "bcos_optimizer_skipped_steps", "an optimizer");
    required(steps, "bcos_optimizer_skipped_steps", "a place for the steps");
    *steps = optimizer->optimizer.skipped_steps();
  });
}
