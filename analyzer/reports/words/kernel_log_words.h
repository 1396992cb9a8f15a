// Words for messages of the kernel.
#pragma once

#include "kernel_log/study.h"

#include <string>

namespace plumb {

std::string kernel_log_heading(kernel_log::Kind kind); // "Accesses that are not aligned, which the kernel carried out"
std::string kernel_log_advice(kernel_log::Kind kind);  // what to do about it; may be empty

std::string place_words(const kernel_log::PlacedGroup& placed);   // "pair.c:20 in walk"
std::string program_words(const kernel_log::Group& group);        // "walk (3 processes)"
std::string address_words(const kernel_log::Group& group);        // "each 8 bytes after the one before"; may be empty

} // namespace plumb
