// A job's place in a network as text: one screen.
#pragma once

#include "network/study.h"
#include "reports/text/terminal.h"

#include <string>

namespace plumb {

// `order_usage`: where the better order was written to, and how it is used; empty: it was not asked for.
std::string topology_text(const network::Study& study, const TextStyle& style, const std::string& order_usage);

} // namespace plumb
