#pragma once

#include <string_view>

/// The files beside this one that pages are made of, copied into the program.
namespace bcos::lab::report {

std::string_view page_html();
std::string_view page_css();
std::string_view chart_js();
std::string_view diagnosis_js();
std::string_view page_js();

}  // namespace bcos::lab::report
