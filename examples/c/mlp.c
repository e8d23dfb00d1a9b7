/* Trains a small network on made-up data with nothing but bcos and the C library: the program keeps
 * its weights and computes its gradients, bcos takes the steps. Halfway it saves, and goes on from
 * the file as a new process would. */
#include <bcos/bcos.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUTS = 2, HIDDEN = 32, BATCH = 64, STEPS = 2000, HALF = STEPS / 2 };

typedef struct {
  float w1[HIDDEN][INPUTS], b1[HIDDEN], w2[HIDDEN], b2;
} network;

static void check(int code) {
  if (code == BCOS_OK) return;
  fprintf(stderr, "%s\n", bcos_error_message());
  exit(1);
}

static float uniform(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) / 8388608.0f - 1.0f;
}

/* The mean loss of a new batch of y = sin(3 a) b, and its gradient. */
static float loss_and_gradient(const network* net, network* grad) {
  float loss = 0;
  *grad = (network){0};
  for (int k = 0; k < BATCH; ++k) {
    float in[INPUTS] = {uniform(), uniform()}, hidden[HIDDEN], out = net->b2;
    for (int j = 0; j < HIDDEN; ++j) {
      hidden[j] = tanhf(net->w1[j][0] * in[0] + net->w1[j][1] * in[1] + net->b1[j]);
      out += net->w2[j] * hidden[j];
    }
    const float error = out - sinf(3 * in[0]) * in[1];
    loss += error * error / BATCH;
    const float d_out = 2 * error / BATCH;
    grad->b2 += d_out;
    for (int j = 0; j < HIDDEN; ++j) {
      const float d_hidden = d_out * net->w2[j] * (1 - hidden[j] * hidden[j]);
      grad->w2[j] += d_out * hidden[j];
      grad->b1[j] += d_hidden;
      for (int i = 0; i < INPUTS; ++i) grad->w1[j][i] += d_hidden * in[i];
    }
  }
  return loss;
}

/* Weights in group 0; biases in group 1, without decay. Ids count from 0 in this order. */
static bcos_optimizer* optimizer_of(network* net) {
  bcos_optimizer* opt = NULL;
  bcos_method_options numbers = BCOS_METHOD_OPTIONS_INIT;
  char decayed[BCOS_METHOD_CAPACITY], bare[BCOS_METHOD_CAPACITY];
  numbers.lambda = 0.1;
  check(bcos_method_make("bcosw_c", &numbers, decayed, sizeof decayed, NULL));
  numbers.lambda = 0;
  check(bcos_method_make("bcosw_c", &numbers, bare, sizeof bare, NULL));

  bcos_options options = BCOS_OPTIONS_INIT;
  options.max_norm = 1.0;
  options.guard = BCOS_GUARD_RAISE;
  check(bcos_optimizer_create(decayed, &options, &opt));
  check(bcos_optimizer_add_group(opt, bare, NULL));
  const bcos_tensor w1 = BCOS_TENSOR_F32(*net->w1, 2, BCOS_SHAPE(HIDDEN, INPUTS));
  const bcos_tensor b1 = BCOS_TENSOR_F32(net->b1, 1, BCOS_SHAPE(HIDDEN));
  const bcos_tensor w2 = BCOS_TENSOR_F32(net->w2, 1, BCOS_SHAPE(HIDDEN));
  const bcos_tensor b2 = BCOS_TENSOR_F32(&net->b2, 0, NULL);
  check(bcos_optimizer_add(opt, "w1", &w1, 0, NULL));
  check(bcos_optimizer_add(opt, "b1", &b1, 1, NULL));
  check(bcos_optimizer_add(opt, "w2", &w2, 0, NULL));
  check(bcos_optimizer_add(opt, "b2", &b2, 1, NULL));
  return opt;
}

/* Steps [first, last); gives back the mean loss of the last hundred. */
static float train(bcos_optimizer* opt, network* net, uint64_t first, uint64_t last) {
  static network grad;
  float mean = 0;
  for (uint64_t t = first; t < last; ++t) {
    const float loss = loss_and_gradient(net, &grad);
    const bcos_gradient gradients[4] = {
        BCOS_GRADIENT_F32(0, *grad.w1, HIDDEN * INPUTS), BCOS_GRADIENT_F32(1, grad.b1, HIDDEN),
        BCOS_GRADIENT_F32(2, grad.w2, HIDDEN), BCOS_GRADIENT_F32(3, &grad.b2, 1)};
    bcos_report report = BCOS_REPORT_INIT;
    double alpha = 0;
    check(bcos_schedule_alpha(
        "{\"curve\": \"cosine\", \"alpha_max\": 0.005, \"warmup\": 50, \"total\": 2000}", t,
        &alpha));
    check(bcos_optimizer_step(opt, &alpha, 1, gradients, 4, &report));
    if (t % 500 == 0) printf("step %4d  loss %.4f  norm %.2f\n", (int)t, loss, report.norm);
    if (t + 100 >= last) mean += loss / 100;
  }
  return mean;
}

int main(void) {
  static network net;
  for (int j = 0; j < HIDDEN; ++j) {
    for (int i = 0; i < INPUTS; ++i) net.w1[j][i] = uniform();
    net.w2[j] = 0.2f * uniform();
  }
  bcos_optimizer* opt = optimizer_of(&net);
  train(opt, &net, 0, HALF);
  check(bcos_optimizer_save(opt, "mlp.safetensors")); /* the state; the weights are ours to keep */
  bcos_optimizer_destroy(opt);

  opt = optimizer_of(&net);
  check(bcos_optimizer_load(opt, "mlp.safetensors"));
  const float loss = train(opt, &net, HALF, STEPS);
  bcos_optimizer_destroy(opt);
  printf("loss of the last hundred steps: %.5f\n", loss);
  return loss < 0.002f ? 0 : 1;
}
