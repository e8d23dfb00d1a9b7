// A C++20 program that catches the library's exception by its type.
#include <bcos/bcos.hpp>
#include <cstdio>
#include <string>

int main() {
  try {
    bcos::method_by_name("no such method");
  } catch (const bcos::Error& error) {
    const std::string text = error.what();
    std::printf("caught: %s\n", text.substr(0, text.find(' ')).c_str());
  }
}
