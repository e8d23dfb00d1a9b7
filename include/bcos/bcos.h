/* bcos for C: optimizers of the BCOS family on memory that the caller owns.
 *
 * Conventions
 * 1. Handles are opaque. bcos_X_create makes one, bcos_X_destroy ends it; destroying null is fine.
 * 2. Functions that can fail return 0 (BCOS_OK) or an error code; bcos_error_message() then says
 *    what was expected and what was received. The text belongs to the calling thread and lasts
 *    until its next failing call. On failure nothing was changed, and outputs are left alone.
 * 3. Structs begin with struct_size, which the caller sets to sizeof (the _INIT macros do, and
 *    fill in the defaults). Structs only grow at the end: a program built against an older
 *    header keeps working. In arrays the struct_size of the first element is the distance.
 * 4. A method is text: a name ("bcosw_c", "bcosw_c@paper"), or JSON, either
 *    {"method": "bcosw_c", "lambda": 0.05} or all keys of docs/methods.md, which is installed
 *    in share/doc/bcos. bcos_method_make writes that text from numbers. A schedule is JSON.
 * 5. Strings are UTF-8 and end with NUL. Strings and arrays passed in are copied, shapes and
 *    strides among them; parameter and state memory is not: it must outlive the handle.
 * 6. A handle is used by one thread at a time; different handles by as many as you like.
 * 7. No C++ exception leaves these functions, and none of them prints or exits.
 *
 * Not here: schedulers that call you back, autograd, devices other than the CPU, 16-bit types.
 */
#ifndef BCOS_BCOS_H
#define BCOS_BCOS_H

#include <stddef.h>
#include <stdint.h>

#include "bcos/export.h"
#include "bcos/version.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  BCOS_OK = 0,
  BCOS_INVALID_ARGUMENT = 1, /* a value is outside its bounds */
  BCOS_MISMATCH = 2,         /* name, shape, dtype or method differ from what is expected */
  BCOS_CORRUPT = 3,          /* a file is damaged, cut or hostile */
  BCOS_IO = 4,               /* the operating system refused */
  BCOS_NON_FINITE = 5,       /* a gradient is NaN or infinite and the guard is raise */
  BCOS_OUT_OF_MEMORY = 6,
  BCOS_INTERNAL = 7
};

enum { BCOS_F32 = 0, BCOS_F64 = 1 };
enum { BCOS_GUARD_PROPAGATE = 0, BCOS_GUARD_SKIP = 1, BCOS_GUARD_RAISE = 2 };

BCOS_API const char* bcos_version(void);
BCOS_API const char* bcos_error_message(void);

/* The kernels used unless BCOS_TARGET in the environment names others: "avx2", "neon", ... */
BCOS_API const char* bcos_target(void);
/* The size of the library's thread pool. Set it while no step runs. */
BCOS_API int bcos_threads(void);
BCOS_API int bcos_set_threads(int threads);

/* Memory as a tensor; strides count elements, null means row-major and dense. data may begin at any
 * multiple of the element's size. Other structs hold this one, so it never grows. */
typedef struct bcos_tensor {
  uint32_t struct_size;
  int32_t dtype;
  void* data;
  int32_t rank;
  int32_t reserved;
  const int64_t* shape;
  const int64_t* strides;
} bcos_tensor;
#define BCOS_TENSOR_INIT {sizeof(bcos_tensor), BCOS_F32, NULL, 0, 0, NULL, NULL}

/* The same for dense memory of float or double. Compilers complain about a pointer to another type.
 *
 *   const int64_t shape[2] = {256, 128};
 *   bcos_tensor w = BCOS_TENSOR_F32(weights, 2, shape);                       in C and in C++
 *   bcos_optimizer_add(opt, "w", &(bcos_tensor)BCOS_TENSOR_F32(weights, 2, BCOS_SHAPE(256, 128)),
 *                      0, &id);                                               in C, from C99 on
 *
 * The second form makes unnamed objects, which last until the block ends that they stand in: long
 * enough for the call, too short to be returned from a function. */
#define BCOS_TENSOR_F32(data, rank, shape) \
  BCOS_TENSOR_OF(BCOS_F32, BCOS_POINTER(float, data), rank, shape)
#define BCOS_TENSOR_F64(data, rank, shape) \
  BCOS_TENSOR_OF(BCOS_F64, BCOS_POINTER(double, data), rank, shape)
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
#define BCOS_SHAPE(...) ((const int64_t[]){__VA_ARGS__})
#endif

/* What these macros are made of: a pointer to T or to void, a conversion, a struct. */
#ifdef __cplusplus
#define BCOS_POINTER(T, pointer) (1 ? (pointer) : static_cast<T*>(NULL))
#define BCOS_AS(T, number) (static_cast<T>(number))
#else
#define BCOS_POINTER(T, pointer) (1 ? (pointer) : (T*)NULL)
#define BCOS_AS(T, number) ((T)(number))
#endif
#define BCOS_TENSOR_OF(dtype, data, rank, shape) \
  {sizeof(bcos_tensor), dtype, data, BCOS_AS(int32_t, rank), 0, shape, NULL}
#define BCOS_GRADIENT_OF(dtype, data, parameter, elements) \
  {sizeof(bcos_gradient),                                  \
   0,                                                      \
   BCOS_AS(uint64_t, parameter),                           \
   data,                                                   \
   NULL,                                                   \
   NULL,                                                   \
   BCOS_AS(uint64_t, elements),                            \
   dtype,                                                  \
   0}

/* Runs task(argument, 0) ... task(argument, count - 1) on any threads, returns when all are done.
 */
typedef void (*bcos_task)(void* argument, size_t index);
typedef void (*bcos_run)(void* context, size_t count, bcos_task task, void* argument);

typedef struct bcos_options {
  uint32_t struct_size;
  int32_t guard;
  double max_norm; /* clip the norm over all gradients of a step; 0: do not */
  bcos_run run;    /* null: the library's own pool */
  void* run_context;
  int32_t threads; /* that take part; 0: as many as the pool has */
  int32_t reserved;
  const char* target; /* null: bcos_target() */
} bcos_options;
#define BCOS_OPTIONS_INIT {sizeof(bcos_options), BCOS_GUARD_PROPAGATE, 0.0, NULL, NULL, 0, 0, NULL}

/* The gradient of one parameter: dtype and shape of the parameter. With `elements` given, both are
 * checked against it. */
typedef struct bcos_gradient {
  uint32_t struct_size;
  int32_t reserved;
  uint64_t parameter;     /* optimizers: its id; plans ignore it, they go by position */
  const void* data;       /* null: the parameter is skipped */
  const int64_t* strides; /* null: dense */
  const void* oracle;     /* E|d|^2, one number per block; estimator oracle alone */
  uint64_t elements;      /* in data; 0: neither they nor dtype are checked */
  int32_t dtype;
  int32_t reserved_too;
} bcos_gradient;
#define BCOS_GRADIENT_INIT {sizeof(bcos_gradient), 0, 0, NULL, NULL, NULL, 0, BCOS_F32, 0}
/* Dense gradients: bcos_gradient g = BCOS_GRADIENT_F32(id, data, 256 * 128); */
#define BCOS_GRADIENT_F32(parameter, data, elements) \
  BCOS_GRADIENT_OF(BCOS_F32, BCOS_POINTER(const float, data), parameter, elements)
#define BCOS_GRADIENT_F64(parameter, data, elements) \
  BCOS_GRADIENT_OF(BCOS_F64, BCOS_POINTER(const double, data), parameter, elements)

/* What a step did. */
typedef struct bcos_report {
  uint32_t struct_size;
  int32_t clipped;
  int32_t skipped;         /* the guard found a non-finite gradient: nothing was changed */
  int32_t decay_above_one; /* alpha lambda > 1 somewhere: outside the theory */
  uint64_t elements;       /* of the parameters that took the step: weights, not parameters */
  uint64_t bytes;
  uint64_t missing; /* parameters without a gradient */
  double norm;      /* of all gradients; NaN where nothing asked for it */
} bcos_report;
#define BCOS_REPORT_INIT {sizeof(bcos_report), 0, 0, 0, 0, 0, 0, 0.0}

/* Optimizers: named parameters, groups, state, files. */
typedef struct bcos_optimizer bcos_optimizer;

/* options may be null. The method is that of group 0. */
BCOS_API int bcos_optimizer_create(const char* method, const bcos_options* options,
                                   bcos_optimizer** optimizer);
BCOS_API void bcos_optimizer_destroy(bcos_optimizer* optimizer);
BCOS_API int bcos_optimizer_add_group(bcos_optimizer* optimizer, const char* method,
                                      uint64_t* group);
BCOS_API int bcos_optimizer_add(bcos_optimizer* optimizer, const char* name,
                                const bcos_tensor* parameter, uint64_t group, uint64_t* id);
/* alphas: one per group, or one for all of them. report may be null.
 *
 * alpha is the learning rate. Take a quarter to a half of AdamW's for bcosw_c, and both a warm-up
 * and a decay (bcos_schedule_alpha): without noise and at a constant alpha the parameters do not
 * converge, they hover at a distance of about alpha from the minimum. */
BCOS_API int bcos_optimizer_step(bcos_optimizer* optimizer, const double* alphas,
                                 size_t alpha_count, const bcos_gradient* gradients,
                                 size_t gradient_count, bcos_report* report);
/* New numbers for a group: the same method in full, or {"method": NAME, numbers ...}, where what is
 * not given has the default of NAME. */
BCOS_API int bcos_optimizer_set_numbers(bcos_optimizer* optimizer, uint64_t group,
                                        const char* method);
/* For all later steps. Gradients are divided by grad_scale: the loss's scale, or the number of
 * batches that were added up. max_norm 0: do not clip. */
BCOS_API int bcos_optimizer_set_grad_scale(bcos_optimizer* optimizer, double grad_scale);
BCOS_API int bcos_optimizer_set_max_norm(bcos_optimizer* optimizer, double max_norm);
/* The parameter lies at `data` from now on, in the same dtype, shape and strides; its state stays.
 * Parameters may move one by one to where others were: that none lies on another is checked by the
 * next step. */
BCOS_API int bcos_optimizer_move(bcos_optimizer* optimizer, uint64_t id, void* data);
BCOS_API int bcos_optimizer_save(const bcos_optimizer* optimizer, const char* path);
BCOS_API int bcos_optimizer_load(bcos_optimizer* optimizer, const char* path);
/* The same for a file whose methods differ in their numbers; the optimizer keeps its own. */
BCOS_API int bcos_optimizer_load_state(bcos_optimizer* optimizer, const char* path);
/* Keeps the momentum of a file of another method. */
BCOS_API int bcos_optimizer_convert(bcos_optimizer* optimizer, const char* path);
/* state: "m", "v" or "u". data is null where the method keeps none. Its elements follow each other
 * as those of the parameter do in memory: row-major, unless the parameter came with strides. */
BCOS_API int bcos_optimizer_state(const bcos_optimizer* optimizer, uint64_t id, const char* state,
                                  void** data, uint64_t* elements);
BCOS_API int bcos_optimizer_steps(const bcos_optimizer* optimizer, uint64_t id, uint64_t* steps);
/* For those who bring state from elsewhere: write it where bcos_optimizer_state points, then say
 * how many steps it has seen. */
BCOS_API int bcos_optimizer_set_steps(bcos_optimizer* optimizer, uint64_t id, uint64_t steps);
BCOS_API int bcos_optimizer_state_bytes(const bcos_optimizer* optimizer, uint64_t* bytes);
/* Parameters have the ids 0, 1, ... in the order they were added. find: the error has the nearest
 * name. name and method write text as bcos_method_text does. */
BCOS_API int bcos_optimizer_parameters(const bcos_optimizer* optimizer, uint64_t* count);
BCOS_API int bcos_optimizer_name(const bcos_optimizer* optimizer, uint64_t id, char* buffer,
                                 size_t capacity, size_t* length);
BCOS_API int bcos_optimizer_find(const bcos_optimizer* optimizer, const char* name, uint64_t* id);
BCOS_API int bcos_optimizer_groups(const bcos_optimizer* optimizer, uint64_t* count);
BCOS_API int bcos_optimizer_method(const bcos_optimizer* optimizer, uint64_t group, char* buffer,
                                   size_t capacity, size_t* length);
/* Steps that the guard refused. */
BCOS_API int bcos_optimizer_skipped_steps(const bcos_optimizer* optimizer, uint64_t* steps);

/* Plans: one step on a list of tensors whose state the caller keeps. */
typedef struct bcos_plan bcos_plan;

/* x, m, v and u of one parameter; states that its method does not keep have null data. */
typedef struct bcos_parameter {
  uint32_t struct_size;
  int32_t reserved;
  uint64_t group;
  bcos_tensor x;
  bcos_tensor m;
  bcos_tensor v;
  bcos_tensor u;
} bcos_parameter;
#define BCOS_PARAMETER_INIT                                                            \
  {sizeof(bcos_parameter), 0, 0, BCOS_TENSOR_INIT, BCOS_TENSOR_INIT, BCOS_TENSOR_INIT, \
   BCOS_TENSOR_INIT}

/* options: guard and max_norm are used by every update. */
BCOS_API int bcos_plan_create(const char* const* methods, size_t method_count,
                              const bcos_parameter* parameters, size_t parameter_count,
                              const bcos_options* options, bcos_plan** plan);
BCOS_API void bcos_plan_destroy(bcos_plan* plan);
/* gradients and steps: one per parameter, in the plan's order; steps are advanced. Gradients are
 * divided by grad_scale; a negative one goes uphill. */
BCOS_API int bcos_plan_update(bcos_plan* plan, const bcos_gradient* gradients, const double* alphas,
                              uint64_t* steps, double grad_scale, bcos_report* report);
BCOS_API int bcos_plan_set_numbers(bcos_plan* plan, size_t group, const char* method);

/* For memory of states that nobody has written yet: asks for huge pages, in which a step finds it
 * sooner. A wish: nothing depends on its being granted. */
BCOS_API int bcos_prefer_huge_pages(void* memory, uint64_t bytes);

/* Numbers and choices of a method, as in docs/methods.md. Those that are left as in _INIT stay what
 * they are in the method. */
typedef struct bcos_method_options {
  uint32_t struct_size;
  int32_t decay; /* BCOS_DECAY_...; this and the next: -1 is "not given" */
  int32_t start;
  int32_t coupled_start;
  const char* blocks; /* "coordinate", "tensor", "row", "column", "heads:12"; null: not given */
  int32_t block_gain;
  int32_t init_on_first_nonzero; /* 0 or 1; -1: not given */
  double beta;                   /* this and the next: BCOS_NOT_GIVEN */
  double beta_v;
  double eps;
  double eps_root;
  double lambda;
  double c;
} bcos_method_options;
/* No number of a method is negative. */
#define BCOS_NOT_GIVEN (-1e300)
#define BCOS_METHOD_OPTIONS_INIT \
  {sizeof(bcos_method_options),  \
   -1,                           \
   -1,                           \
   -1,                           \
   NULL,                         \
   -1,                           \
   -1,                           \
   BCOS_NOT_GIVEN,               \
   BCOS_NOT_GIVEN,               \
   BCOS_NOT_GIVEN,               \
   BCOS_NOT_GIVEN,               \
   BCOS_NOT_GIVEN,               \
   BCOS_NOT_GIVEN}

enum { BCOS_DECAY_NONE = 0, BCOS_DECAY_COUPLED = 1, BCOS_DECAY_DECOUPLED = 2 };
enum { BCOS_START_FIRST = 0, BCOS_START_ZERO = 1, BCOS_START_ZERO_CORRECTED = 2 };
enum { BCOS_COUPLED_START_WITH_DECAY = 0, BCOS_COUPLED_START_RAW = 1 };
enum { BCOS_BLOCK_GAIN_ONE = 0, BCOS_BLOCK_GAIN_SQRT = 1 };

/* Room for the text of any method whose blocks are not lists. */
enum { BCOS_METHOD_CAPACITY = 1024 };

/* Writes the text of `method` (a name or JSON) with these options, for every function that takes a
 * method. No locale changes how numbers are written. A number that the method does not read is an
 * error, and so is a buffer that is too small. *length is what the text needs without the NUL;
 * buffer may be null if capacity is 0, which asks for that alone.
 *
 *   bcos_method_options options = BCOS_METHOD_OPTIONS_INIT;
 *   char method[BCOS_METHOD_CAPACITY];
 *   options.lambda = 0.05;
 *   bcos_method_make("bcosw_c", &options, method, sizeof method, NULL); */
BCOS_API int bcos_method_make(const char* method, const bcos_method_options* options, char* buffer,
                              size_t capacity, size_t* length);

/* What a method is, for those who lay out memory for it. */
/* Writes the method in full as JSON; *length is what it needs without the NUL. buffer may be null
 * if capacity is 0. A buffer that is too small gets what fits. */
BCOS_API int bcos_method_text(const char* method, char* buffer, size_t capacity, size_t* length);
/* Bits: 1 keeps m, 2 keeps v, 4 keeps u. */
BCOS_API int bcos_method_states(const char* method, uint32_t* states);
/* How many blocks, and so elements of v, a parameter of this shape has. */
BCOS_API int bcos_method_blocks(const char* method, const int64_t* shape, int32_t rank,
                                uint64_t* blocks);

/* alpha at step t of a schedule. */
BCOS_API int bcos_schedule_alpha(const char* schedule, uint64_t t, double* alpha);

#ifdef __cplusplus
}
#endif

#endif
