// Builds the model of a run from its files.
#pragma once

#include "model/run.h"
#include "trace/file/run_json.h"
#include "trace/file/trace_reader.h"

#include <string>
#include <vector>

namespace plumb::trace {

// Reads run.json and every trace file of a run directory, of which any may be missing, cut off or damaged: what had
// to be left out stands in Run::notes. Throws NewerFormat when a file is of a later major version, and plumb::Error
// when `directory` is no run, or nothing in it can be read.
model::Run build_run(const std::string& directory);

// The same from files that are open already (tests, fuzzing); null: there is no run.json.
model::Run build_run(std::vector<TraceReader>& files, const RunFacts* facts);

} // namespace plumb::trace
