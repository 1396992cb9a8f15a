// A simulated job as one HTML file: no network, readable without scripts, charts where they were built in.
#pragma once

#include "simulate/study.h"

#include <string>

namespace plumb {

std::string simulation_html(const simulate::Study& study);

} // namespace plumb
