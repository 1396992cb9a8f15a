// The JSON report as a document, for those who put more into it before it becomes text.
#pragma once

#include "analysis/report.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace plumb {

using Json = nlohmann::ordered_json;

Json json_document(const Report& report);

// JSON knows no infinity.
inline Json number(double value) { return std::isfinite(value) ? Json(value) : Json(0); }

inline Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Replaces invalid UTF-8 by U+FFFD. Throws nothing.
std::string json_text(const Json& document, int indent);

} // namespace plumb
