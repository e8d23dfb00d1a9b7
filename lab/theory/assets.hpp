#pragma once

#include <string_view>

/// The files beside this one that the page of a report is made of, copied into the program.
namespace bcos::lab::theory {

std::string_view theory_html();
std::string_view theory_css();

}  // namespace bcos::lab::theory
