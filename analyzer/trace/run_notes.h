// What a reader of the report must know about the record itself: what is missing in it, in words.
#pragma once

#include "model/run.h"
#include "trace/file/trace_reader.h"

#include <cstdint>

namespace plumb::trace {

struct Skipped {
    uint64_t of_unknown_kind = 0;      // records of types that a later minor version brought
    uint64_t of_unknown_processes = 0; // records about pids that no file introduces
    bool allowance_exhausted = false;
};

// Records that found no room in `file`.
void note_dropped(model::Run& run, const TraceReader& file);

// How a process with the shim inside ended without saying so. `shim_last_ns`: last sign of life of the shim.
void note_end(model::Run& run, const model::Process& process, uint64_t shim_last_ns);

// OpenMP runtimes that started threads of which nothing is known: missing evidence.
void note_unseen_teams(model::Run& run);

// The rest; shortens the list if one kind of note would fill a page.
void note_run(model::Run& run, bool has_run_json, const Skipped& skipped);

} // namespace plumb::trace
