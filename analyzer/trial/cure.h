// One way to start a program differently that needs no change of its code.
#pragma once

#include "trial/facts.h"

#include <string>
#include <utility>
#include <vector>

namespace plumb::trial {

struct Change {
    std::vector<std::pair<std::string, std::string>> settings = {}; // of the environment
    std::string preload = "";                                       // a library, ahead of others that are preloaded
    std::string tunables = "";                                      // of glibc, behind others
    std::vector<std::string> launcher = {};                         // words before the command; "plumb" is this plumb
};

struct Cure {
    std::string id, what; // "jemalloc", "use jemalloc instead of the C library's malloc"
    // Of one family only one can be in force. `needs` is empty or what another cure `takes` away: those two exclude each other.
    std::string family, needs = "", takes = "";
    Change change;
    std::vector<std::string> answers = {}; // it is what advice means that has one of these in its text or its command
    bool is_part_of_answer = false;        // what the findings promise is more than it can do: a bound
    std::string why_not = "";              // why it does not apply here; empty: it does
    std::string why_tried = "";            // a figure of the run that speaks for it where no finding does; empty: none does
};

// All that plumb knows, those that do not apply here as well, with the reason. In a fixed order; ids are unique.
std::vector<Cure> all_cures(const Facts& facts);

bool exclude_each_other(const Cure& one, const Cure& other);

// The environment (NAME=VALUE) and the words of a command with all these changes. `set`: what is in the environment already.
struct Launch {
    std::vector<std::string> environment, words;
};
Launch launch_with(const std::vector<Change>& changes, const std::map<std::string, std::string>& set,
                   const std::vector<std::string>& command);

// As a line for a shell.
std::string launch_line(const Launch& launch);

} // namespace plumb::trial
