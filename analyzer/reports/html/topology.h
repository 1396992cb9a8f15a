// A job's place in a network as one page.
#pragma once

#include "network/study.h"

#include <string>

namespace plumb {

std::string topology_html(const network::Study& study);

} // namespace plumb
