// Where each file of a run was written: on which host, by which clock, in which PID namespace.
#pragma once

#include "model/run.h"
#include "trace/file/run_json.h"
#include "trace/file/trace_reader.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::trace {

struct FilePlace {
    size_t host = 0;             // number in Run::hosts
    uint64_t clock_shift_ns = 0; // see FileContext
    uint64_t pid_namespace = 0;
};

// Adds the hosts to `run`, the one that run.json (null: there is none) names first. Machines of one name are different
// hosts, where the files say which machine.
std::vector<FilePlace> place_files(const std::vector<TraceReader>& files, const RunFacts* facts, model::Run& run);

} // namespace plumb::trace
