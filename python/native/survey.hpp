#pragma once

#include "python_objects.hpp"

using Word = std::uint64_t;

/// How a tensor lies in its memory. What the last two mean is up to who looks: they are compared.
struct Description {
  Word offset = 0;  ///< in elements
  Word elements = 0;
  Word kind = 0;  ///< type of the elements, device, density
  Word keys = 0;  ///< who handles it

  bool lies_like(const Description& other) const {
    return elements == other.elements && kind == other.kind && keys == other.keys;
  }
  bool operator==(const Description&) const = default;
};

/// Where a tensor is and how it lies there.
struct Place {
  Word storage = 0;
  Word memory = 0;
  Description description{};

  bool operator==(const Place&) const = default;
};

extern "C" {

/// Parameters and their states.
struct Tensors {
  PyObject* const* objects;  ///< `kinds` times `count`: the parameters, then their states
  std::ptrdiff_t kinds;
  std::ptrdiff_t count;
  Place* places;           ///< of these tensors at the first look, which writes them
  const Word* item_bytes;  ///< of the parameters
  Word* addresses;         ///< of the gradients, so many words apart
  std::ptrdiff_t addresses_apart;
  void** held;  ///< the gradients and one more, which stays empty; or null
};

/// A call of the engine's update (bcos.h), and what it returned.
struct Call {
  int (*update)(void* plan, const void* gradients, const double* alphas, std::uint64_t* steps,
                double grad_scale, void* report);
  void* plan;
  const void* gradients;
  const double* alphas;
  std::uint64_t* steps;
  double grad_scale;
  void* report;
  std::int32_t code;
};

/// As the package reads it.
struct Survey {
  std::int64_t counted;  ///< of so many parameters, from the first on, autograd was told
  std::int32_t unmoved;  ///< parameters and states are where they were at the first look
  std::int32_t alike;    ///< all gradients are there and lie like their parameters
};

}  // extern "C"

/// Looks at all tensors of a step in one pass. A View knows how torch keeps them:
///   prefetch(i)               what looking at number i and those behind it will read
///   place(object)             where a parameter or a state is
///   gradient(object)          of a parameter, until it is kept or dropped; false if there is none
///                             that can be looked at
///   place_of(gradient)
///   keep(gradient, slot)      until it is released; false if it fails. Without a slot it is not
///                             kept: fine where Python's lock is never let go of
///   drop(gradient)
///   release()                 all that are kept
///   count_write(object)       tells autograd; false if it cannot
///   failed()                  Python has an error that is not ours to clear
template <class View>
class Surveyor {
 public:
  Surveyor(const Tensors& tensors, const View& view) : tensors_(tensors), view_(view) {}

  /// At the first look these are the places to compare with later. `counting`: autograd is told,
  /// while they are at hand, that parameters change, up to the first whose gradient is not alike.
  /// Gradients that are not all alike are not kept.
  void look(bool first, bool counting, Survey& out) const {
    out = {0, 1, 1};
    for (std::ptrdiff_t i = 0; i < tensors_.count && out.unmoved != 0; ++i) {
      view_.prefetch(i);
      if (first) remember(i);
      if (!first && !unmoved(i)) out.unmoved = 0;
      if (out.alike == 0 || out.unmoved == 0) continue;
      if (!find_gradient(i) || (counting && !view_.count_write(tensors_.objects[i]))) {
        out.alike = 0;
        if (view_.failed()) break;
      } else if (counting) {
        ++out.counted;
      }
    }
    if (out.unmoved == 0) out.alike = 0;
    if (out.alike == 0) view_.release();
  }

  /// Looks, and steps if nothing has moved and all gradients are alike.
  void look_and_step(bool counting, Survey& out, Call& call) const {
    look(false, counting, out);
    if (out.alike == 0) return;
    call.code = call.update(call.plan, call.gradients, call.alphas, call.steps, call.grad_scale,
                            call.report);
  }

 private:
  void remember(std::ptrdiff_t i) const {
    for (std::ptrdiff_t at = i; at < tensors_.kinds * tensors_.count; at += tensors_.count) {
      tensors_.places[at] = view_.place(tensors_.objects[at]);
    }
  }

  bool unmoved(std::ptrdiff_t i) const {
    for (std::ptrdiff_t at = i; at < tensors_.kinds * tensors_.count; at += tensors_.count) {
      if (view_.place(tensors_.objects[at]) != tensors_.places[at]) return false;
    }
    return true;
  }

  bool find_gradient(std::ptrdiff_t i) const {
    const auto gradient = view_.gradient(tensors_.objects[i]);
    if (!gradient) return false;
    const Place place = view_.place_of(gradient);
    const Description& lies = place.description;
    if (!lies.lies_like(tensors_.places[i].description) ||
        (place.memory == 0 && lies.elements != 0)) {
      view_.drop(gradient);
      return false;
    }
    tensors_.addresses[i * tensors_.addresses_apart] =
        place.memory + lies.offset * tensors_.item_bytes[i];
    return view_.keep(gradient, tensors_.held == nullptr ? nullptr : &tensors_.held[i]);
  }

  const Tensors& tensors_;
  const View& view_;
};
