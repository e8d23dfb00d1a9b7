/* A C11 program against bcos.h alone: compiled as C, so that no C++ can leak into the header. */
#include <bcos/bcos.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed = 0;

#define CHECK(condition)                                                                         \
  do {                                                                                           \
    if (!(condition)) {                                                                          \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, bcos_error_message()); \
      exit(1);                                                                                   \
    }                                                                                            \
    ++passed;                                                                                    \
  } while (0)

static bcos_tensor vector_of(void* data, int32_t dtype, const int64_t* size) {
  bcos_tensor tensor = BCOS_TENSOR_INIT;
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.rank = 1;
  tensor.shape = size;
  return tensor;
}

static void optimizer_steps_saves_and_loads(const char* path) {
  float x[3] = {1, 2, 3};
  const float g[3] = {0.5f, -0.5f, 0};
  const int64_t three = 3;
  const double alpha = 0.1;
  bcos_optimizer* optimizer = NULL;
  CHECK(bcos_optimizer_create("{\"method\": \"bcosw_c\", \"lambda\": 0}", NULL, &optimizer) ==
        BCOS_OK);
  uint64_t id = 99;
  const bcos_tensor parameter = vector_of(x, BCOS_F32, &three);
  CHECK(bcos_optimizer_add(optimizer, "x", &parameter, 0, &id) == BCOS_OK);
  CHECK(id == 0);
  bcos_gradient gradient = BCOS_GRADIENT_INIT;
  gradient.parameter = id;
  gradient.data = g;
  bcos_report report = BCOS_REPORT_INIT;
  CHECK(bcos_optimizer_step(optimizer, &alpha, 1, &gradient, 1, &report) == BCOS_OK);
  CHECK(report.elements == 3 && report.bytes == 60 && report.skipped == 0);
  CHECK(isnan(report.norm));
  CHECK(fabsf(x[0] - 0.9f) < 1e-5f && fabsf(x[1] - 2.1f) < 1e-5f && x[2] == 3);
  uint64_t steps = 0, bytes = 0, elements = 0;
  void* m = NULL;
  CHECK(bcos_optimizer_steps(optimizer, id, &steps) == BCOS_OK && steps == 1);
  CHECK(bcos_optimizer_state_bytes(optimizer, &bytes) == BCOS_OK && bytes == 12);
  CHECK(bcos_optimizer_state(optimizer, id, "m", &m, &elements) == BCOS_OK && elements == 3);
  CHECK(fabsf(((float*)m)[0] - 0.05f) < 1e-7f);
  CHECK(bcos_optimizer_state(optimizer, id, "v", &m, &elements) == BCOS_OK && m == NULL);

  CHECK(bcos_optimizer_save(optimizer, path) == BCOS_OK);
  CHECK(bcos_optimizer_step(optimizer, &alpha, 1, &gradient, 1, NULL) == BCOS_OK);
  CHECK(bcos_optimizer_load(optimizer, path) == BCOS_OK);
  CHECK(bcos_optimizer_steps(optimizer, id, &steps) == BCOS_OK && steps == 1);

  bcos_optimizer* adam = NULL;
  CHECK(bcos_optimizer_create("adamw", NULL, &adam) == BCOS_OK);
  float y[3] = {0, 0, 0};
  const bcos_tensor other = vector_of(y, BCOS_F32, &three);
  CHECK(bcos_optimizer_add(adam, "x", &other, 0, NULL) == BCOS_OK);
  CHECK(bcos_optimizer_load(adam, path) == BCOS_MISMATCH);
  CHECK(strstr(bcos_error_message(), "convert") != NULL);
  CHECK(bcos_optimizer_load(adam, "/nonexistent") == BCOS_IO);
  bcos_optimizer_destroy(adam);
  bcos_optimizer_destroy(optimizer);
  bcos_optimizer_destroy(NULL);
}

static void plan_steps_memory_of_the_caller(void) {
  double x[4] = {1, 2, 3, 4}, m[4], v[4];
  const double g[4] = {1, -1, 1, -1};
  const int64_t four = 4;
  const char* methods[1] = {"adamw"};
  bcos_parameter parameter = BCOS_PARAMETER_INIT;
  parameter.x = vector_of(x, BCOS_F64, &four);
  parameter.m = vector_of(m, BCOS_F64, &four);
  parameter.v = vector_of(v, BCOS_F64, &four);
  bcos_options options = BCOS_OPTIONS_INIT;
  options.guard = BCOS_GUARD_RAISE;
  options.max_norm = 1.0;
  bcos_plan* plan = NULL;
  parameter.u.dtype = BCOS_F64;
  CHECK(bcos_plan_create(methods, 1, &parameter, 1, &options, &plan) == BCOS_OK);
  bcos_gradient gradient = BCOS_GRADIENT_INIT;
  gradient.data = g;
  uint64_t steps = 0;
  const double alpha = 0.01;
  bcos_report report = BCOS_REPORT_INIT;
  CHECK(bcos_plan_update(plan, &gradient, &alpha, &steps, 1.0, &report) == BCOS_OK);
  CHECK(steps == 1 && report.clipped == 1 && report.norm == 2.0);
  CHECK(fabs(x[0] - (1 * (1 - 0.0001) - 0.01)) < 1e-8);
  const double bad[4] = {1, NAN, 1, 1};
  gradient.data = bad;
  CHECK(bcos_plan_update(plan, &gradient, &alpha, &steps, 1.0, &report) == BCOS_NON_FINITE);
  CHECK(steps == 1);
  CHECK(bcos_plan_set_numbers(plan, 0, "{\"method\": \"adamw\", \"beta_v\": 0.99}") == BCOS_OK);
  CHECK(bcos_plan_set_numbers(plan, 0, "sgd") == BCOS_MISMATCH);
  bcos_plan_destroy(plan);
  bcos_plan_destroy(NULL);
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
  CHECK(bcos_method_states("bcosw_c", &states) == BCOS_OK && states == 1);
  CHECK(bcos_method_blocks("{\"method\": \"bcosw_m\", \"blocks\": \"row\"}", shape, 2, &blocks) ==
            BCOS_OK &&
        blocks == 12);
  CHECK(bcos_schedule_alpha("{\"curve\": \"linear\", \"alpha_max\": 1, \"total\": 10}", 5,
                            &alpha) == BCOS_OK &&
        alpha == 0.5);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: c_interface_test FILE\n");
    return 2;
  }
  CHECK(strcmp(bcos_version(), BCOS_VERSION_STRING) == 0);
  CHECK(strlen(bcos_target()) > 0);
  CHECK(bcos_threads() >= 1);
  optimizer_steps_saves_and_loads(argv[1]);
  plan_steps_memory_of_the_caller();
  methods_and_schedules_are_text();
  printf("%d checks passed\n", passed);
  return 0;
}
