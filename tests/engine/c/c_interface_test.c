/* A C11 program against bcos.h alone: compiled as C, so that no C++ can leak into the header. */
#include <bcos/bcos.h>
#include <locale.h>
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

/* What a text means, written out. */
static const char* meaning(const char* method) {
  static char text[BCOS_METHOD_CAPACITY];
  CHECK(bcos_method_text(method, text, sizeof text, NULL) == BCOS_OK);
  return text;
}

static void methods_are_made_of_numbers(void) {
  char made[BCOS_METHOD_CAPACITY];
  size_t length = 0, again = 0;
  uint32_t states = 0;
  uint64_t blocks = 0, group = 0;
  const int64_t shape[2] = {12, 5};
  bcos_method_options options = BCOS_METHOD_OPTIONS_INIT;
  CHECK(bcos_method_make("bcosw_c@paper", &options, made, sizeof made, &length) == BCOS_OK);
  CHECK(strcmp(made, meaning("bcosw_c@paper")) == 0 && strlen(made) == length);

  options.beta = 0.95;
  options.beta_v = 0.999;
  options.eps = 1e-9;
  options.lambda = 0.1 + 0.2; /* seventeen digits */
  options.blocks = "heads:12";
  CHECK(bcos_method_make("adamw", &options, made, sizeof made, &length) == BCOS_OK);
  CHECK(strcmp(made, meaning("{\"method\": \"adamw\", \"beta\": 0.95, \"beta_v\": 0.999, \"eps\": "
                             "1e-9, \"lambda\": 0.30000000000000004, \"blocks\": \"heads:12\"}")) ==
        0);
  CHECK(bcos_method_make(made, &options, NULL, 0, &again) == BCOS_OK && again == length);
  CHECK(bcos_method_make(made, &options, made, length + 1, NULL) == BCOS_OK);

  /* Wherever a method is taken. */
  bcos_optimizer* optimizer = NULL;
  bcos_plan* plan = NULL;
  double x[4] = {1, 2, 3, 4}, m[4], v[4];
  const char* methods[1] = {made};
  options.blocks = NULL;
  CHECK(bcos_method_make("adamw", &options, made, sizeof made, NULL) == BCOS_OK);
  bcos_parameter parameter = BCOS_PARAMETER_INIT;
  parameter.x = (bcos_tensor)BCOS_TENSOR_F64(x, 1, BCOS_SHAPE(4));
  parameter.m = (bcos_tensor)BCOS_TENSOR_F64(m, 1, BCOS_SHAPE(4));
  parameter.v = (bcos_tensor)BCOS_TENSOR_F64(v, 1, BCOS_SHAPE(4));
  CHECK(bcos_optimizer_create(made, NULL, &optimizer) == BCOS_OK);
  CHECK(bcos_optimizer_add_group(optimizer, made, &group) == BCOS_OK);
  CHECK(bcos_plan_create(methods, 1, &parameter, 1, NULL, &plan) == BCOS_OK);
  options.lambda = 0;
  CHECK(bcos_method_make(made, &options, made, sizeof made, NULL) == BCOS_OK);
  CHECK(bcos_optimizer_set_numbers(optimizer, group, made) == BCOS_OK);
  CHECK(bcos_plan_set_numbers(plan, 0, made) == BCOS_OK);
  CHECK(bcos_method_states(made, &states) == BCOS_OK && states == 3);
  bcos_plan_destroy(plan);
  bcos_optimizer_destroy(optimizer);

  bcos_method_options choices = BCOS_METHOD_OPTIONS_INIT;
  choices.decay = BCOS_DECAY_COUPLED;
  choices.start = BCOS_START_FIRST;
  choices.coupled_start = BCOS_COUPLED_START_RAW;
  choices.block_gain = BCOS_BLOCK_GAIN_SQRT;
  choices.init_on_first_nonzero = 1;
  choices.blocks = "row";
  choices.eps_root = 1e-20;
  CHECK(bcos_method_make("bcos_m", &choices, made, sizeof made, NULL) == BCOS_OK);
  CHECK(
      strcmp(made, meaning("{\"method\": \"bcos_m\", \"decay\": \"coupled\", \"start\": \"first\", "
                           "\"coupled_start\": \"raw\", \"block_gain\": \"sqrt\", \"eps_root\": "
                           "1e-20, \"init_on_first_nonzero\": true, \"blocks\": \"row\"}")) == 0);
  CHECK(bcos_method_blocks(made, shape, 2, &blocks) == BCOS_OK && blocks == 12);
  bcos_method_options constant = BCOS_METHOD_OPTIONS_INIT;
  constant.c = 4;
  CHECK(bcos_method_make("sgd", &constant, made, sizeof made, NULL) == BCOS_OK);
  CHECK(strstr(made, "\"c\":4.0") != NULL);
}

static void an_optimizer_tells_what_it_is(void) {
  float x[2] = {1, 2}, y[2] = {3, 4};
  const float g[2] = {1, NAN}, h[2] = {8, 8};
  const double alpha = 0.1;
  char text[BCOS_METHOD_CAPACITY];
  size_t length = 0;
  uint64_t number = 0, id = 0;
  bcos_options options = BCOS_OPTIONS_INIT;
  options.guard = BCOS_GUARD_SKIP;
  bcos_optimizer* optimizer = NULL;
  CHECK(bcos_optimizer_create("sgd", &options, &optimizer) == BCOS_OK);
  CHECK(bcos_optimizer_add_group(optimizer, "sign_sgd", NULL) == BCOS_OK);
  CHECK(bcos_optimizer_add(optimizer, "layer.weight",
                           &(bcos_tensor)BCOS_TENSOR_F32(x, 1, BCOS_SHAPE(2)), 0, NULL) == BCOS_OK);
  CHECK(bcos_optimizer_add(optimizer, "layer.bias",
                           &(bcos_tensor)BCOS_TENSOR_F32(y, 1, BCOS_SHAPE(2)), 1, NULL) == BCOS_OK);
  CHECK(bcos_optimizer_parameters(optimizer, &number) == BCOS_OK && number == 2);
  CHECK(bcos_optimizer_groups(optimizer, &number) == BCOS_OK && number == 2);
  CHECK(bcos_optimizer_find(optimizer, "layer.bias", &id) == BCOS_OK && id == 1);
  CHECK(bcos_optimizer_name(optimizer, 1, text, sizeof text, &length) == BCOS_OK);
  CHECK(strcmp(text, "layer.bias") == 0 && length == 10);
  CHECK(bcos_optimizer_name(optimizer, 1, text, 6, NULL) == BCOS_OK && strcmp(text, "layer") == 0);
  CHECK(bcos_optimizer_method(optimizer, 1, text, sizeof text, &length) == BCOS_OK);
  CHECK(strcmp(text, meaning("sign_sgd")) == 0 && strlen(text) == length);

  /* One alpha for both groups; a step that the guard refuses; gradients of eight batches. */
  const bcos_gradient bad = BCOS_GRADIENT_F32(0, g, 2);
  const bcos_gradient good[2] = {BCOS_GRADIENT_F32(0, h, 2), BCOS_GRADIENT_F32(1, h, 2)};
  bcos_report report = BCOS_REPORT_INIT;
  CHECK(bcos_optimizer_step(optimizer, &alpha, 1, &bad, 1, &report) == BCOS_OK && report.skipped);
  CHECK(bcos_optimizer_skipped_steps(optimizer, &number) == BCOS_OK && number == 1);
  CHECK(bcos_optimizer_set_grad_scale(optimizer, 8) == BCOS_OK);
  CHECK(bcos_optimizer_step(optimizer, &alpha, 1, good, 2, NULL) == BCOS_OK);
  CHECK(fabsf(x[0] - 0.9f) < 1e-6f && fabsf(y[0] - 2.9f) < 1e-6f);
  CHECK(bcos_optimizer_set_max_norm(optimizer, 1) == BCOS_OK);
  CHECK(bcos_optimizer_step(optimizer, &alpha, 1, good, 1, &report) == BCOS_OK);
  CHECK(report.clipped && fabs(report.norm - sqrt(2.0)) < 1e-6);
  CHECK(bcos_optimizer_set_max_norm(optimizer, 0) == BCOS_OK);
  CHECK(bcos_optimizer_step(optimizer, &alpha, 1, good, 1, &report) == BCOS_OK && !report.clipped);
  bcos_optimizer_destroy(optimizer);
}

static void a_parameter_moves_and_keeps_its_state(void) {
  double here[2] = {1, 2}, there[2] = {1, 2}, stays[2] = {1, 2};
  const double g[2] = {1, -2}, h[2] = {0.5, 1}, alpha = 0.1;
  bcos_optimizer* optimizer = NULL;
  CHECK(bcos_optimizer_create("bcosw_c", NULL, &optimizer) == BCOS_OK);
  CHECK(bcos_optimizer_add(optimizer, "moves",
                           &(bcos_tensor)BCOS_TENSOR_F64(here, 1, BCOS_SHAPE(2)), 0,
                           NULL) == BCOS_OK);
  CHECK(bcos_optimizer_add(optimizer, "stays",
                           &(bcos_tensor)BCOS_TENSOR_F64(stays, 1, BCOS_SHAPE(2)), 0,
                           NULL) == BCOS_OK);
  const bcos_gradient first[2] = {BCOS_GRADIENT_F64(0, g, 2), BCOS_GRADIENT_F64(1, g, 2)};
  const bcos_gradient second[2] = {BCOS_GRADIENT_F64(0, h, 2), BCOS_GRADIENT_F64(1, h, 2)};
  CHECK(bcos_optimizer_step(optimizer, &alpha, 1, first, 2, NULL) == BCOS_OK);
  memcpy(there, here, sizeof there);
  CHECK(bcos_optimizer_move(optimizer, 0, there) == BCOS_OK);
  CHECK(bcos_optimizer_step(optimizer, &alpha, 1, second, 2, NULL) == BCOS_OK);
  CHECK(memcmp(there, stays, sizeof there) == 0 && memcmp(here, there, sizeof there) != 0);
  bcos_optimizer_destroy(optimizer);
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: c_interface_test FILE [LOCALE]\n");
    return 2;
  }
  if (argc == 3) {
    char half[8];
    CHECK(setlocale(LC_ALL, argv[2]) != NULL);
    CHECK(snprintf(half, sizeof half, "%.1f", 0.5) == 3 && half[1] == ',');
  }
  CHECK(strcmp(bcos_version(), BCOS_VERSION_STRING) == 0);
  CHECK(strlen(bcos_target()) > 0);
  CHECK(bcos_threads() >= 1);
  optimizer_steps_saves_and_loads(argv[1]);
  plan_steps_memory_of_the_caller();
  methods_and_schedules_are_text();
  methods_are_made_of_numbers();
  an_optimizer_tells_what_it_is();
  a_parameter_moves_and_keeps_its_state();
  printf("%d checks passed\n", passed);
  return 0;
}
