// Series of runs in words, for all forms of their report.
#pragma once

#include "repeat/repetition.h"

#include <string>
#include <vector>

namespace plumb {

// "3 runs failed and are not counted: exit status 1 (2 times), 139 (1 times)". Of a command with failed runs.
std::string failure_words(const repeat::RepeatedCommand& command);

struct SpreadRow {
    std::string name;               // "base wall"; without the set where there is one command
    std::vector<std::string> cells; // of spread_titles()
};

std::vector<std::string> spread_titles();
std::vector<SpreadRow> spread_rows(const std::vector<repeat::RepeatedCommand>& commands);

} // namespace plumb
