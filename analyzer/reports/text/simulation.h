// A simulated job as text: one screen.
#pragma once

#include "reports/text/terminal.h"
#include "simulate/study.h"

#include <string>

namespace plumb {

// `took_s`: how long the simulation ran.
std::string simulation_text(const simulate::Study& study, const TextStyle& style, double took_s);

} // namespace plumb
