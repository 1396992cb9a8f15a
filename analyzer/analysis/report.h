// Everything a report shows, already decided: text, JSON and HTML only differ in form.
#pragma once

#include "analyses/accesses/unaligned_lines.h"
#include "analyses/memory/bandwidth_summary.h"
#include "analyses/noise/noise_summary.h"
#include "analyses/system/system_summary.h"
#include "analyses/time/time_account.h"
#include "analysis/call_tree.h"
#include "analysis/event_summary.h"
#include "analysis/memory_summary.h"
#include "analysis/mpi_summary.h"
#include "diagnoses/finding.h"
#include "model/run.h"
#include "model/source_resolver.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace plumb {

struct OwnCost {
    double fraction = 0; // of the run's CPU time
    double seconds = 0;
    uint64_t bytes = 0; // of the run directory
    std::string how;
};

struct HotLine {                            // one line of the profile
    model::SourceFrame frame;               // the user's line (model::CallPaths::user_frame)
    std::string leaf_function, leaf_module; // where the instruction was
    double seconds = 0, fraction = 0;       // CPU time
    double kernel_fraction = 0;             // of this line
};

struct LibraryShare {
    std::string module;
    double seconds = 0, fraction = 0; // self CPU time
};

struct HeapLine { // allocations made on behalf of one line of the user's code
    model::SourceFrame frame;
    double allocations = 0, allocated_bytes = 0; // estimates unless every event was recorded
    double peak_live_bytes = 0;                  // of this line, when the whole heap was largest
    double unfreed_bytes = 0, temporary = 0;     // temporary: freed at once by the same thread
};

struct Report {
    const model::Run* run = nullptr;
    OwnCost own_cost;
    TimeAccount account;
    CallTreeNode call_tree; // empty unless it was asked for (AnalysisOptions)
    std::vector<Metric> metrics;
    std::vector<Finding> findings;       // by severity, then cost
    std::vector<HotLine> hot_lines;      // by time
    std::vector<LibraryShare> libraries; // by time
    std::vector<SampledEventRow> sampled_events; // of counters, where they were asked for
    std::vector<model::Evidence> evidence;
    std::vector<std::string> looked_for; // ids of the diagnoses that ran
    double cpu_seconds = 0;              // of all threads of the run
    double sampled_seconds = 0;          // CPU time that the samples stand for
    std::vector<HeapLine> heap_lines;    // by allocated bytes
    std::vector<AccessLine> accesses;    // unaligned ones, by cost
    std::optional<BandwidthSummary> bandwidth; // nothing: no loops over large arrays were seen
    MemorySummary memory;                // of machines with several NUMA nodes
    std::vector<MpiSummary> mpi;         // one for each of run->mpi_jobs
    std::optional<NoiseSummary> noise;   // of a run that measured noise: nothing else in it is worth a word
    std::optional<SystemSummary> system; // of a run that plumb system recorded: likewise
    uint64_t samples = 0;                // time samples the profile rests on
    bool heap_exact = false;             // every allocation was recorded
    std::function<bool(const std::string& file)> may_show_source; // empty: no source line is quoted
};

} // namespace plumb
