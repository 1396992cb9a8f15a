// run.json: what `plumb run` says about the run as a whole. Written when the run begins and again when it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plumb::trace {

struct RunFacts {
    bool finished = false; // false: plumb still records, or was killed
    bool of_machine = false; // by plumb system: what ran on the machine, whoever started it
    bool redacted = false; // arguments, host names and folders were not recorded
    std::vector<std::string> command;
    std::string host;
    std::string plumb_version;
    uint64_t start_unix_ns = 0;
    uint64_t begin_ns = 0, end_ns = 0; // 0: not said
    std::optional<int> exit_status;
};

// The text of a run.json; `name` is what errors and `problem` call it. See read_run_json.
std::optional<RunFacts> parse_run_json(const std::string& text, const std::string& name, std::string& problem);

// Reads RUN/run.json; nothing when there is none or it is damaged, and then `problem` says so in words. Throws
// NewerFormat when it is of a later schema than plumb-run/1. Unknown members are ignored.
std::optional<RunFacts> read_run_json(const std::string& path, std::string& problem);

} // namespace plumb::trace
