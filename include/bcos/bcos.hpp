#pragma once

/// Everything for C++ programs, from the bottom up.

#include "bcos/error.hpp"
#include "bcos/version.h"

// a method is a value
#include "bcos/blocks.hpp"
#include "bcos/method.hpp"
#include "bcos/methods.hpp"
#include "bcos/schedule.hpp"
#include "bcos/text.hpp"

// one step on memory the caller keeps
#include "bcos/backend.hpp"
#include "bcos/executor.hpp"
#include "bcos/memory.hpp"
#include "bcos/step_numbers.hpp"
#include "bcos/target.hpp"
#include "bcos/tensor.hpp"
#include "bcos/update.hpp"

// named parameters, state, files
#include "bcos/optimizer.hpp"
#include "bcos/safetensors.hpp"
