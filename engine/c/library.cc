#include "bcos/executor.hpp"
#include "bcos/memory.hpp"
#include "bcos/target.hpp"
#include "engine/c/guarded.hpp"

namespace bcos::c {
namespace {

constexpr std::size_t kMessage = 1024;
thread_local char last_message[kMessage] = "";

}  // namespace

int failed(int code, std::string_view message) noexcept {
  const std::size_t length = message.copy(last_message, kMessage - 1);
  last_message[length] = '\0';
  return code;
}

}  // namespace bcos::c

using namespace bcos::c;

const char* bcos_version(void) { return BCOS_VERSION_STRING; }
const char* bcos_error_message(void) { return last_message; }

const char* bcos_target(void) {
  const char* name = "";
  guarded([&] { name = bcos::name(bcos::default_target()).data(); });
  return name;
}

int bcos_threads(void) {
  int threads = 0;
  guarded([&] { threads = bcos::default_threads(); });
  return threads;
}

int bcos_set_threads(int threads) {
  return guarded([&] { bcos::set_default_threads(threads); });
}

int bcos_prefer_huge_pages(void* memory, uint64_t bytes) {
  return guarded([&] {
    if (bytes > 0) required(static_cast<char*>(memory), "bcos_prefer_huge_pages", "memory");
    bcos::prefer_huge_pages(memory, bytes);
  });
}
