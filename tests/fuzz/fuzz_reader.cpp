// What a run directory can make the analyzer read: trace files through reader, dump, builder and replay, and run.json. The
// entry that libFuzzer calls; fuzz_replay.cpp calls the same.
#include "replay/replay.h"
#include "support/error.h"
#include "trace/build_run.h"
#include "trace/record_text.h"
#include "trace/records.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace plumb;
using namespace plumb::trace;

namespace {

void read_json(std::span<const std::byte> input) {
    std::string problem;
    parse_run_json({reinterpret_cast<const char*>(input.data()), input.size()}, "run.json", problem);
}

void dump(TraceFile& file) {
    StringTable strings;
    for_each_record(file, [&](const String& record, std::string_view text) { strings.add(record.id, text); });
    size_t lines = 0, length = 0;
    file.visit({.record =
                    [&](const RawRecord& raw) {
                        if (++lines > 64) // the formatting, not the amount of it
                            return;
                        const RecordLine line{raw.offset, raw.header.type, describe_record(raw.header.type), raw.bytes};
                        length += record_as_text(line, strings).size();
                        length += record_as_json(file.name(), line, strings).size();
                    },
                .chunk = {}});
    if (length < lines)
        std::abort();
}

// What the rest of the analyzer takes for granted.
void check(const model::Run& run) {
    for (const model::Process& process : run.processes) {
        if (process.paths.empty())
            std::abort();
        for (size_t i = 1; i < process.paths.size(); ++i)
            if (process.paths[i].parent >= i)
                std::abort();
        for (const model::SampleSite& site : process.samples)
            if (site.path >= process.paths.size() || site.thread >= process.threads.size())
                std::abort();
        for (const model::HeapSite& site : process.heap.sites)
            if (site.path >= process.paths.size())
                std::abort();
        for (const model::UnalignedSite& site : process.alignment.sites) {
            if (site.address == 0 || site.path >= process.paths.size())
                std::abort();
            for (const model::UnalignedThread& thread : site.threads)
                if (thread.thread >= process.threads.size())
                    std::abort();
            for (const model::UnalignedAddress& access : site.addresses)
                if (access.thread >= process.threads.size() || access.block_path >= process.paths.size())
                    std::abort();
        }
        if (process.mpi) {
            for (const model::MpiSite& site : process.mpi->sites)
                if (site.path >= process.paths.size() || site.thread >= process.threads.size())
                    std::abort();
            for (const model::MpiComm& comm : process.mpi->comms)
                if (comm.path >= process.paths.size())
                    std::abort();
        }
        for (const model::Thread& thread : process.threads)
            if (thread.creation_path >= process.paths.size())
                std::abort();
    }
}

// Each rank gets a neighbour that recorded the same, so that there is something to lay side by side.
void add_neighbours(model::Run& run) {
    for (size_t i = 0, count = run.processes.size(); i < count; ++i)
        if (run.processes[i].mpi && run.processes[i].mpi->rank >= 0 && run.processes[i].paths.size() < 10'000) {
            model::Process neighbour = run.processes[i];
            neighbour.mpi->rank = neighbour.mpi->rank == 0 ? 1 : neighbour.mpi->rank - 1;
            run.processes.push_back(std::move(neighbour));
        }
}

void check_jobs(const model::Run& run) {
    for (const model::MpiJob& job : run.mpi_jobs) {
        for (const model::MpiRankRow& row : job.ranks)
            if (row.process >= run.processes.size() || row.host >= run.hosts.size())
                std::abort();
        for (const model::MpiCallSite& site : job.sites)
            if (site.process >= run.processes.size() || site.path >= run.processes[site.process].paths.size() ||
                (site.comm != model::MpiCallSite::kNoComm && site.comm >= job.comms.size()))
                std::abort();
        if (job.arrivals.mean_s.size() != job.arrivals.rows.size() * job.arrivals.columns.size())
            std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto input = std::as_bytes(std::span(data, size));
    try {
        if (size != 0 && data[0] == '{') {
            read_json(input);
            return 0;
        }
        // The same bytes once as they are and once as the other side's file: both accounts of the same processes.
        std::vector<std::byte> other(input.begin(), input.end());
        if (other.size() >= sizeof(FileHeader))
            reinterpret_cast<FileHeader*>(other.data())->writer ^= 3;
        std::vector<TraceFile> files;
        files.emplace_back("one", [input] { return open_memory(input); });
        files.emplace_back("other", [&other] { return open_memory(other); });
        dump(files[0]);
        model::Run run = build_run(files, nullptr);
        check(run);
        add_neighbours(run);
        replay::replay_mpi(run, {.threads = 1, .open = [&](const std::string& name) {
                               const std::span<const std::byte> bytes = name == "one" ? input : std::span<const std::byte>(other);
                               return TraceFile(name, [bytes] { return open_memory(bytes); });
                           }});
        check_jobs(run);
    } catch (const Error&) { // how unreadable input ends
    }
    return 0;
}
