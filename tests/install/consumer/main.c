/* A program outside the tree: it prints the version of the library it runs with. */
#include <bcos/bcos.h>
#include <stdio.h>

int main(void) {
  puts(bcos_version());
  return 0;
}
