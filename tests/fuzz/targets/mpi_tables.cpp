#include "records.h"
#include "target.h"

#include "replay/replay.h"
#include "run_checks.h"
#include "seeds.h"
#include "support/error.h"
#include "trace/build_run.h"

namespace plumb::fuzz {

using namespace trace;

void run_mpi_tables(Bytes input) {
    const std::vector<std::byte> file = trace_of_records(input, Writer::process);
    const auto open = [&file](const std::string& name) { return TraceReader(name, [&file] { return open_memory(file); }); };
    try {
        std::vector<TraceReader> files;
        files.push_back(open("rank"));
        model::Run run = build_run(files, nullptr);
        check_run(run);
        add_neighbours(run);
        replay::replay_mpi(run, {.threads = 1, .open = open});
        check_jobs(run);
    } catch (const Error&) {
    }
}

Seeds seeds_of_mpi_tables() {
    const std::vector<std::byte> rank = make_rank_trace();
    return {{"rank", records_of_trace(rank, 1 << 14)}};
}

} // namespace plumb::fuzz
