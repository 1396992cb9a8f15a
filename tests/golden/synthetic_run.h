// Runs that never happened, whole enough for every section of a report. The same on every machine.
#pragma once

#include "diagnoses/diagnosis.h"
#include "diagnoses/registry.h"
#include "model/run.h"
#include "model/source_resolver.h"

#include <memory>
#include <span>
#include <string>

namespace plumb::synthetic {

// "stacked": four workers on one CPU of two. "clean": one healthy process. "killed": cut short. "hostile":
// every name tries to break out of its form. "wide": 2,000 threads on 256 CPUs. Throws Error for another
// name. "mpi" and "mpi-wide": 16 and 8,192 ranks, one of them late. "memory" and "memory-wide": 2 NUMA nodes and 3
// objects, 8 and 200.
model::Run make_run(const std::string& kind);

// Diagnoses that find what make_run(kind) was made for.
std::span<const DiagnosisEntry> diagnoses_of(const std::string& kind);

// Address n of any module is line n % 100 (of the memory runs: n) of `source_file`, in function "compute" or "main".
std::unique_ptr<model::SourceResolver> make_resolver(const std::string& kind, const std::string& source_file);

} // namespace plumb::synthetic
