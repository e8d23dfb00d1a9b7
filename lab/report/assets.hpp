#pragma once

#include <string_view>

/// The files beside this one that pages and pictures are made of, copied into the program.
namespace bcos::lab {

std::string_view page_html();
std::string_view page_css();
std::string_view figure_css();
std::string_view chart_js();
std::string_view diagnosis_js();
std::string_view page_js();

}  // namespace bcos::lab
