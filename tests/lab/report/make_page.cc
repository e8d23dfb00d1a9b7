#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/cli/html.hpp"
#include "lab/report/page.hpp"

/// make_page PAGE RUN: the page of a run. make_page PAGE TITLE RUN...: of a comparison.
int main(int count, char** arguments) {
  try {
    if (count < 3) throw std::runtime_error("expected PAGE RUN or PAGE TITLE RUN...");
    const std::string page = arguments[1];
    if (count == 3) {
      bcos::lab::cli::write_page(
          page, bcos::lab::report::run_page(bcos::lab::run::read_run(arguments[2])));
      return 0;
    }
    std::vector<bcos::lab::run::RunRecord> runs;
    for (int i = 3; i < count; ++i) runs.push_back(bcos::lab::run::read_run(arguments[i]));
    bcos::lab::cli::write_page(page, bcos::lab::report::compare_page(arguments[2], runs));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
