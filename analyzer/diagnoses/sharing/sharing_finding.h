// What false-sharing and true-sharing say alike: cost, gain, subject, lines and who uses which bytes.
#pragma once

#include "diagnoses/diagnosis.h"
#include "diagnoses/sharing/shared_lines.h"

#include <optional>
#include <string>

namespace plumb {

// Without title and advice. Nothing when the cost is too small or the samples are too few.
std::optional<Finding> sharing_finding(const DiagnosisInput& input, const SharedObject& object, const char* id);

// "`counters`", "struct Counter", "the memory allocated at io.c:12", "unnamed memory".
std::string shared_words(const SharedPlace& place);

std::string thread_words(size_t count); // "2 threads"

} // namespace plumb
