// What every form of the report says about the run itself, in words.
#pragma once

#include "analysis/report.h"

#include <string>
#include <vector>

namespace plumb {

// "12.3 s on node042, 2 of 64 CPUs", "4 processes", "16 threads", "24.1 s of CPU time", "exit status 0".
std::vector<std::string> run_facts(const Report& report);

// What limits everything below: a run cut short, killed processes, processes nothing was recorded inside, few
// samples, what the reader had to skip. Empty for a whole run.
std::vector<std::string> run_warnings(const Report& report);

// "from 378 samples that stand for 759 ms of the 1.18 s": what the profile rests on.
// The sources that are missing, each once, in words that need no knowledge of plumb. Empty: all are there.
std::string missing_evidence(const Report& report);

std::string profile_basis(const Report& report);

// What the report comes to: too_short where nothing was found in a run that gave too little to find anything in.
// measured: no program ran.
enum class Outcome { findings, nothing_found, too_short, measured };
Outcome outcome_of(const Report& report);
const char* to_string(Outcome outcome); // "findings", "nothing-found", "too-short", "measured"

// One sentence or two: what was found, or that nothing was and what could have been.
std::string verdict(const Report& report);

// Findings above info.
size_t count_of(const Report& report, Severity severity);

// For each process "rank 3", "app" or "app (pid 12)": as short as is unique among them.
std::vector<std::string> process_labels(const model::Run& run);

struct PlacementRow {
    std::string process, thread, cpu, memory_node; // memory_node: "" when not bound
};

// Who may run where: one row a thread that plumb placed, threads of one process in slot order. Empty without.
std::vector<PlacementRow> placement_table(const model::Run& run);

} // namespace plumb
