/* A program of the first days: compiled against a copy of the first bcos.h, whose structs are
 * shorter than today's, and linked to today's library, which must serve it unchanged. */
#include <bcos/bcos.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(bcos_tensor) == 40, "the first bcos_tensor");
_Static_assert(sizeof(bcos_options) == 48, "the first bcos_options");
_Static_assert(sizeof(bcos_gradient) == 40, "the first bcos_gradient");
_Static_assert(sizeof(bcos_report) == 48, "the first bcos_report");
_Static_assert(sizeof(bcos_parameter) == 176, "the first bcos_parameter");

#define CHECK(condition)                                                                         \
  do {                                                                                           \
    if (!(condition)) {                                                                          \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, bcos_error_message()); \
      exit(1);                                                                                   \
    }                                                                                            \
  } while (0)

static const int64_t two = 2;

static bcos_tensor pair(void* data, int32_t dtype) {
  bcos_tensor tensor = BCOS_TENSOR_INIT;
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.rank = 1;
  tensor.shape = &two;
  return tensor;
}

/* What lies behind a report on the stack is not written. */
typedef struct {
  bcos_report report;
  uint64_t behind;
} watched;

static void an_optimizer_takes_arrays_of_short_structs(const char* path) {
  float x[2] = {1, 2}, y[2] = {3, 4};
  double z[2] = {5, 6};
  const float g[2] = {0.5f, -0.5f};
  const double h[2] = {1, -1};
  const double alphas[2] = {0.1, 0.2};
  uint64_t group = 0, id = 9, steps = 0, bytes = 0, elements = 0;
  void* state = NULL;
  bcos_options options = BCOS_OPTIONS_INIT;
  options.max_norm = 100;
  options.guard = BCOS_GUARD_SKIP;
  bcos_optimizer* optimizer = NULL;
  CHECK(bcos_optimizer_create("{\"method\": \"bcosw_c\", \"lambda\": 0}", &options, &optimizer) ==
        BCOS_OK);
  CHECK(bcos_optimizer_add_group(optimizer, "adamw", &group) == BCOS_OK && group == 1);
  const bcos_tensor tensors[3] = {pair(x, BCOS_F32), pair(y, BCOS_F32), pair(z, BCOS_F64)};
  CHECK(bcos_optimizer_add(optimizer, "x", &tensors[0], 0, NULL) == BCOS_OK);
  CHECK(bcos_optimizer_add(optimizer, "y", &tensors[1], 1, NULL) == BCOS_OK);
  CHECK(bcos_optimizer_add(optimizer, "z", &tensors[2], 0, &id) == BCOS_OK && id == 2);
  bcos_gradient gradients[3] = {BCOS_GRADIENT_INIT, BCOS_GRADIENT_INIT, BCOS_GRADIENT_INIT};
  gradients[0].data = g;
  gradients[1].data = g;
  gradients[1].parameter = 1;
  gradients[2].data = h; /* float64: the first gradients do not say so */
  gradients[2].parameter = 2;
  watched out = {BCOS_REPORT_INIT, 99};
  CHECK(bcos_optimizer_step(optimizer, alphas, 2, gradients, 3, &out.report) == BCOS_OK);
  CHECK(out.behind == 99 && out.report.struct_size == 48 && out.report.elements == 6);
  CHECK(fabs(out.report.norm - sqrt(3.0)) < 1e-12);
  CHECK(fabsf(x[0] - 0.9f) < 1e-5f && fabs(z[1] - 6.1) < 1e-9 && y[1] > 4.1f);
  CHECK(bcos_optimizer_steps(optimizer, 2, &steps) == BCOS_OK && steps == 1);
  CHECK(bcos_optimizer_state(optimizer, 1, "v", &state, &elements) == BCOS_OK && elements == 2);
  CHECK(bcos_optimizer_state_bytes(optimizer, &bytes) == BCOS_OK && bytes == 8 + 16 + 16);
  CHECK(bcos_optimizer_step(optimizer, alphas, 3, gradients, 3, NULL) == BCOS_MISMATCH);
  CHECK(bcos_optimizer_step(optimizer, alphas, 0, gradients, 3, NULL) == BCOS_MISMATCH);
  CHECK(bcos_optimizer_set_numbers(optimizer, 1, "{\"method\": \"adamw\", \"beta_v\": 0.9}") ==
        BCOS_OK);
  CHECK(bcos_optimizer_save(optimizer, path) == BCOS_OK);
  CHECK(bcos_optimizer_load(optimizer, path) == BCOS_OK);
  CHECK(bcos_optimizer_load_state(optimizer, path) == BCOS_OK);
  CHECK(bcos_optimizer_convert(optimizer, path) == BCOS_INVALID_ARGUMENT);
  CHECK(bcos_optimizer_set_steps(optimizer, 2, 7) == BCOS_OK);
  bcos_optimizer_destroy(optimizer);
}

static void a_plan_takes_arrays_of_short_structs(void) {
  double x[2] = {1, 2}, m[2], v[2], y[2] = {3, 4}, n[2], w[2];
  const double g[2] = {1, -1};
  const char* methods[1] = {"adamw"};
  const double alpha = 0.01;
  uint64_t steps[2] = {0, 0};
  bcos_parameter parameters[2] = {BCOS_PARAMETER_INIT, BCOS_PARAMETER_INIT};
  parameters[0].x = pair(x, BCOS_F64);
  parameters[0].m = pair(m, BCOS_F64);
  parameters[0].v = pair(v, BCOS_F64);
  parameters[1].x = pair(y, BCOS_F64);
  parameters[1].m = pair(n, BCOS_F64);
  parameters[1].v = pair(w, BCOS_F64);
  bcos_plan* plan = NULL;
  CHECK(bcos_plan_create(methods, 1, parameters, 2, NULL, &plan) == BCOS_OK);
  bcos_gradient gradients[2] = {BCOS_GRADIENT_INIT, BCOS_GRADIENT_INIT};
  gradients[0].data = g;
  gradients[1].data = g;
  watched out = {BCOS_REPORT_INIT, 99};
  CHECK(bcos_plan_update(plan, gradients, &alpha, steps, 2.0, &out.report) == BCOS_OK);
  CHECK(steps[0] == 1 && steps[1] == 1 && out.behind == 99 && out.report.elements == 4);
  CHECK(fabs(y[0] - (3 * (1 - 0.0001) - 0.01)) < 1e-8);
  CHECK(bcos_plan_set_numbers(plan, 0, "{\"method\": \"adamw\", \"beta_v\": 0.99}") == BCOS_OK);
  bcos_plan_destroy(plan);
}

static void run_here(void* context, size_t count, bcos_task task, void* argument) {
  for (size_t i = 0; i < count; ++i) task(argument, i);
  *(size_t*)context += count;
}

static void every_field_is_read_where_it_was(void) {
  static float y[300000], h[300000];
  double x[2] = {1, 2};
  const double g[4] = {1, 99, -2, 99}, oracle[2] = {4, 16}, alpha = 0.1;
  const int64_t every_other = 2, many = 300000;
  size_t tasks = 0;
  bcos_options options = BCOS_OPTIONS_INIT;
  options.run = run_here;
  options.run_context = &tasks;
  options.threads = 2;
  options.target = "scalar";
  bcos_optimizer* optimizer = NULL;
  CHECK(bcos_optimizer_create("{\"direction\": \"gradient\", \"estimator\": \"oracle\"}", &options,
                              &optimizer) == BCOS_OK);
  const bcos_tensor tensor = pair(x, BCOS_F64);
  bcos_tensor large = BCOS_TENSOR_INIT;
  large.data = y;
  large.rank = 1;
  large.shape = &many;
  CHECK(bcos_optimizer_add(optimizer, "x", &tensor, 0, NULL) == BCOS_OK);
  bcos_gradient gradient = BCOS_GRADIENT_INIT;
  gradient.data = g;
  gradient.strides = &every_other;
  gradient.oracle = oracle;
  CHECK(bcos_optimizer_step(optimizer, &alpha, 1, &gradient, 1, NULL) == BCOS_OK);
  CHECK(fabs(x[0] - 0.95) < 1e-9 && fabs(x[1] - 2.05) < 1e-9 && tasks == 0);
  bcos_optimizer_destroy(optimizer);

  CHECK(bcos_optimizer_create("sgd", &options, &optimizer) == BCOS_OK);
  CHECK(bcos_optimizer_add(optimizer, "y", &large, 0, NULL) == BCOS_OK);
  bcos_gradient dense = BCOS_GRADIENT_INIT;
  dense.data = h;
  CHECK(bcos_optimizer_step(optimizer, &alpha, 1, &dense, 1, NULL) == BCOS_OK && tasks > 1);
  bcos_optimizer_destroy(optimizer);
}

static void methods_and_schedules_are_text(void) {
  char text[2048];
  size_t length = 0;
  uint32_t states = 0;
  uint64_t blocks = 0;
  double alpha = 0;
  const int64_t shape[2] = {12, 5};
  CHECK(bcos_method_text("bcosw_c", text, sizeof text, &length) == BCOS_OK);
  CHECK(strlen(text) == length && strstr(text, "\"cond_full\"") != NULL);
  CHECK(bcos_method_text("bcosw_c", text, 5, &length) == BCOS_OK && strlen(text) == 4);
  CHECK(bcos_method_states("adamw", &states) == BCOS_OK && states == 3);
  CHECK(bcos_method_blocks("{\"method\": \"bcosw_m\", \"blocks\": \"row\"}", shape, 2, &blocks) ==
            BCOS_OK &&
        blocks == 12);
  CHECK(bcos_schedule_alpha("{\"curve\": \"linear\", \"alpha_max\": 1, \"total\": 10}", 5,
                            &alpha) == BCOS_OK &&
        alpha == 0.5);
  CHECK(bcos_method_text("adamx", text, sizeof text, &length) == BCOS_INVALID_ARGUMENT);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  an_optimizer_takes_arrays_of_short_structs(argv[1]);
  a_plan_takes_arrays_of_short_structs();
  every_field_is_read_where_it_was();
  methods_and_schedules_are_text();
  CHECK(bcos_threads() >= 1 && bcos_set_threads(2) == BCOS_OK && strlen(bcos_target()) > 0);
  CHECK(bcos_prefer_huge_pages(NULL, 0) == BCOS_OK);
  return 0;
}
