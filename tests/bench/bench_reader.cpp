// How fast a run is read: a file of ten million heap records and one of a million samples, built into the model.
// bench-reader [HEAP_RECORDS [SAMPLE_RECORDS]] writes both to a scratch folder, prints a table, and removes them.
#include "../unit/synthetic_trace.h"
#include "trace/build_run.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

using namespace plumb;
using namespace plumb::trace;

namespace {

constexpr uint64_t kChunkRecords = 10'000;
constexpr uint32_t kPaths = 50'000; // distinct call paths, 10 frames deep, as of a large program
constexpr uint32_t kPid = 42;

// Writes a trace piece by piece: the file is larger than what this process may hold.
class LargeFile {
  public:
    LargeFile(const std::string& path, Writer writer) : out_(path, std::ios::binary) {
        SyntheticTrace header(writer, kPid);
        out_.write(reinterpret_cast<const char*>(header.bytes().data()), sizeof(FileHeader));
    }

    // One chunk with what `fill` adds to it.
    template <class Fill> void chunk(Fill fill) {
        fill(trace_);
        const auto& bytes = trace_.bytes();
        out_.write(reinterpret_cast<const char*>(bytes.data()) + sizeof(FileHeader),
                   static_cast<std::streamsize>(bytes.size() - sizeof(FileHeader)));
        trace_.restart();
    }

  private:
    std::ofstream out_;
    SyntheticTrace trace_{Writer::process, kPid};
};

void add_paths(SyntheticTrace& trace) {
    NodeId inner = 0;
    for (uint32_t path = 0; path < kPaths; ++path) {
        // Ten frames a path, of which eight are shared with the one before.
        const NodeId parent = path % 5 == 0 ? 0 : inner;
        inner = trace.node(trace.node(parent, 0x400000 + path % 977), 0x500000 + path, kPathLeaf, 0);
    }
}

void write_heap(const std::string& path, uint64_t records) {
    LargeFile file(path, Writer::process);
    file.chunk([](SyntheticTrace& trace) {
        ProcessStart start{};
        start.pid = kPid;
        start.time_ns = 1000;
        trace.add(start);
        add_paths(trace);
    });
    for (uint64_t done = 0; done < records; done += kChunkRecords)
        file.chunk([&](SyntheticTrace& trace) {
            for (uint64_t i = done; i < std::min(records, done + kChunkRecords); ++i) {
                HeapSite site{};
                site.path = static_cast<NodeId>(1 + i * 7919 % (2 * kPaths));
                site.mode = static_cast<uint32_t>(HeapSiteMode::every_event);
                site.allocations = 1;
                site.allocated_bytes = 64;
                trace.add(site, kPid + static_cast<uint32_t>(i % 8));
            }
        });
}

void write_samples(const std::string& path, uint64_t records) {
    LargeFile file(path, Writer::recorder);
    file.chunk([](SyntheticTrace& trace) {
        ProcessSeen seen{};
        seen.pid = kPid;
        seen.time_ns = 1000;
        trace.add(seen);
        add_paths(trace);
    });
    for (uint64_t done = 0; done < records; done += kChunkRecords)
        file.chunk([&](SyntheticTrace& trace) {
            for (uint64_t i = done; i < std::min(records, done + kChunkRecords); ++i) {
                SampleSite site{};
                site.pid = kPid;
                site.path = static_cast<NodeId>(1 + i * 7919 % (2 * kPaths));
                site.samples = 1;
                trace.add(site, kPid + static_cast<uint32_t>(i % 8));
            }
        });
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void measure(const char* what, const std::string& path, uint64_t records, uint64_t (*total)(const model::Run&)) {
    const double cpu_begin = cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    std::vector<TraceReader> files;
    files.emplace_back(path);
    const model::Run run = build_run(files, nullptr);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double cpu = cpu_seconds() - cpu_begin;
    if (total(run) != records) {
        std::fprintf(stderr, "bench-reader: %s: %llu of %llu records came out\n", what,
                     static_cast<unsigned long long>(total(run)), static_cast<unsigned long long>(records));
        std::exit(1);
    }
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%-12s %9llu records  %6.0f MB  %6.2f s (%.2f s CPU)  %10.0f records/s  peak %5.0f MB\n", what,
                static_cast<unsigned long long>(records), static_cast<double>(std::filesystem::file_size(path)) / 1e6,
                seconds, cpu, static_cast<double>(records) / seconds, static_cast<double>(usage.ru_maxrss) * 1024 / 1e6);
}

} // namespace

int main(int argc, char** argv) {
    const uint64_t heap_records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
    const uint64_t sample_records = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000;
    const std::string folder = std::filesystem::temp_directory_path() / ("plumb-bench-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    write_heap(folder + "/heap.plumb", heap_records);
    write_samples(folder + "/samples.plumb", sample_records);
    measure("heap sites", folder + "/heap.plumb", heap_records, [](const model::Run& run) {
        uint64_t sum = 0;
        for (const model::HeapSite& site : run.processes.at(0).heap.sites)
            sum += site.allocations;
        return sum;
    });
    measure("sample sites", folder + "/samples.plumb", sample_records, [](const model::Run& run) {
        uint64_t sum = 0;
        for (const model::SampleSite& site : run.processes.at(0).samples)
            sum += site.samples;
        return sum;
    });
    std::filesystem::remove_all(folder);
    return 0;
}
