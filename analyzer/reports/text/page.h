// The report on one screen: where the time went, what would help most, and where the rest is.
#pragma once

#include "analysis/report.h"
#include "reports/text/terminal.h"

#include <cstddef>
#include <string>

namespace plumb {

std::string text_page(const Report& report, const TextStyle& style);

// One of the numbered findings of that page with all that is known of it. Throws Error when there is none of that number.
std::string finding_text(const Report& report, size_t number, const TextStyle& style);

} // namespace plumb
