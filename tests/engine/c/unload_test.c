/* unload_test LIBRARY: loads it, steps on two threads, unloads it and lives on. The threads of its
 * pool are still asleep in its code then. */
#define _POSIX_C_SOURCE 200809L
#include <bcos/bcos.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kSize = 1 << 20 };

static void* address_of(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "unload_test: %s\n", dlerror());
    exit(1);
  }
  return found;
}

/* A pointer to the library's function. ISO C has no cast to it from an address. */
#define FIND(pointer, name)                        \
  __typeof__(name)* pointer;                       \
  do {                                             \
    void* address = address_of(library, #name);    \
    memcpy(&(pointer), &address, sizeof(pointer)); \
  } while (0)

static int step(void* library) {
  FIND(set_threads, bcos_set_threads);
  FIND(create, bcos_optimizer_create);
  FIND(add, bcos_optimizer_add);
  FIND(take_step, bcos_optimizer_step);
  FIND(destroy, bcos_optimizer_destroy);

  const int64_t size = kSize;
  const double alpha = 1e-3;
  float* x = calloc(kSize, sizeof *x);
  float* g = calloc(kSize, sizeof *g);
  if (x == NULL || g == NULL) return 1;
  bcos_tensor tensor = BCOS_TENSOR_INIT;
  tensor.data = x;
  tensor.rank = 1;
  tensor.shape = &size;
  bcos_gradient gradient = BCOS_GRADIENT_INIT;
  gradient.data = g;
  bcos_optimizer* optimizer = NULL;
  int code = set_threads(2);
  if (code == BCOS_OK) code = create("bcosw_c", NULL, &optimizer);
  if (code == BCOS_OK) code = add(optimizer, "x", &tensor, 0, NULL);
  if (code == BCOS_OK) code = take_step(optimizer, &alpha, 1, &gradient, 1, NULL);
  destroy(optimizer);
  free(x);
  free(g);
  return code;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "unload_test: expected the library's path\n");
    return 1;
  }
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "unload_test: %s\n", dlerror());
    return 1;
  }
  const int code = step(library);
  if (code != BCOS_OK) {
    fprintf(stderr, "unload_test: a step failed with %d\n", code);
    return 1;
  }
  dlclose(library);
  const struct timespec while_threads_sleep = {.tv_sec = 0, .tv_nsec = 200 * 1000 * 1000};
  nanosleep(&while_threads_sleep, NULL);
  puts("unloaded");
  return 0;
}
