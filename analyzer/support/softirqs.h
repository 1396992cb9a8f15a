// Softirqs, the part of an interrupt's work that the kernel does later, are recorded among the interrupts. Their names begin like
// this.
#pragma once

#include <string_view>

namespace plumb {

inline constexpr std::string_view kSoftirq = "softirq ";

inline bool is_softirq(std::string_view interrupt) { return interrupt.starts_with(kSoftirq); }

} // namespace plumb
