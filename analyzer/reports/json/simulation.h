// A simulated job as JSON: a versioned interface, "plumb-simulation/1".
#pragma once

#include "simulate/study.h"

#include <string>

namespace plumb {

// Times in seconds, shares and gains from 0 to 1. The same study gives the same text. With a newline at its end.
std::string simulation_json(const simulate::Study& study);

} // namespace plumb
