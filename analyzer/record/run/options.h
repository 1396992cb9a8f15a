// What `plumb run` was asked to do.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace plumb::record {

enum class CallGraph { frame_pointers, dwarf, none };

// What --with and --without may name, in the order of the help.
const std::vector<std::string>& collector_names();

struct Options {
    std::vector<std::string> command;
    std::string run_directory; // empty: named after the program and the time
    std::string name;          // in place of the program's; empty: the program's
    bool force = false;        // replace an earlier run in run_directory
    bool report = true;
    bool quiet = false;
    bool redact = false; // no arguments, host names and folders of files are recorded
    double rate_hz = 241; // prime, and far from common timer rates: no lockstep with what it looks at
    bool rate_is_fixed = false; // asked for: it does not become slower in long runs
    CallGraph call_graph = CallGraph::dwarf; // frame_pointers where it does not work
    double budget_percent = 2;
    std::vector<std::string> with, without; // collectors
    std::string heap = "sample";
    std::string align = "off"; // find, exact or off: the alignment trap
    std::vector<std::string> align_modules, align_skip; // globs of libraries whose accesses count, or do not
    bool align_fatal = false;                           // the first unaligned access ends the program
    std::string align_ranges; // what align_fatal is limited to, as PLUMB_ALIGN_RANGES wants it; empty: nothing
    std::vector<std::string> include, exclude; // globs of executables
    bool follows_mappings = true; // of the machine: libraries that processes map while it is looked at
    bool is_of_machine = false; // no program is recorded, but what runs on the machine
    std::string swept; // what a sweep of the NUMA nodes did before the launch, in words; empty: there was none
    std::map<std::string, std::string> environment; // further variables for the target, such as a placement
    std::function<void(pid_t)> prepare_child;       // called when the target's process is there, before its exec

    bool collects(const std::string& collector) const; // by default or by --with, and not by --without
};

} // namespace plumb::record
