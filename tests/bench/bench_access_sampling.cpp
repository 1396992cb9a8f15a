// What telling a memory access from a time sample costs the recorder: code that was seen before, code that is met for the
// first time (its function is read and cut into instructions), and with the node of its page, which the kernel is asked for.
// Samples are made up, code and pages are this process's own.
#include "record/access/sampling/access_sampling.h"
#include "record/watch/memory/memory_sampling.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <link.h>
#include <string>
#include <unistd.h>
#include <vector>

using namespace plumb;
using namespace plumb::record;

namespace {

constexpr size_t kFunctions = 2000, kSamples = 2'000'000;
constexpr size_t kTouched = 64u << 20;      // bytes
constexpr size_t kSettledTogether = 100;    // samples: of some tenths of a second at the default rate

double cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

PerfRecord sample_at(uint64_t address) {
    PerfRecord sample;
    sample.kind = PerfKind::sample;
    sample.pid = sample.tid = static_cast<uint32_t>(getpid());
    sample.address = address;
    sample.register_abi = PERF_SAMPLE_REGS_ABI_64;
    static const std::vector<uint64_t> registers(kUserRegisterCount, 0x10000);
    sample.registers = registers;
    return sample;
}

// Where functions of the mapped files begin.
std::vector<uint64_t> function_starts(const Process& process, unwind::StackUnwinder& images) {
    std::vector<uint64_t> starts;
    for (const auto& [start, module] : process.modules) {
        unwind::UnwindImage* image = images.image_of({&module.path, start, module.file_offset, false});
        for (uint64_t at = start; image && at < module.end && starts.size() < kFunctions;) {
            const auto place = image->address_of(at - start + module.file_offset);
            const auto range = place ? image->function_at(*place) : std::nullopt;
            if (!range) {
                at += 64;
                continue;
            }
            if (range->start == *place)
                starts.push_back(at);
            at += range->end - *place;
        }
    }
    return starts;
}

} // namespace

int main() {
    std::string folder = (std::filesystem::temp_directory_path() / "plumb-bench-XXXXXX").string();
    if (!mkdtemp(folder.data()))
        return 1;
    {
        NodeTraceWriter file(folder + "/node.plumb", 64u << 20, 1u << 30);
        ProcessTable processes(file, 64u << 20);
        unwind::StackUnwinder images;
        AccessSampling accesses(file, processes, images, 16u << 20, 1);
        const Process* self = processes.find_or_read(static_cast<uint32_t>(getpid()));
        if (!accesses.works() || !self) {
            std::printf("not measured: %s\n", accesses.works() ? "/proc cannot be read" : accesses.why().c_str());
            std::filesystem::remove_all(folder);
            return 77;
        }
        std::vector<PerfRecord> samples;
        for (const uint64_t start : function_starts(*self, images))
            samples.push_back(sample_at(start));
        double begin = cpu_ns();
        for (const PerfRecord& sample : samples)
            accesses.take(sample, 1);
        std::printf("code met for the first time  %8.0f ns a sample (%zu functions)\n",
                    (cpu_ns() - begin) / static_cast<double>(samples.size()), samples.size());
        begin = cpu_ns();
        for (size_t i = 0; i < kSamples; ++i)
            accesses.take(samples[i % samples.size()], 1);
        std::printf("code seen before             %8.0f ns a sample\n", (cpu_ns() - begin) / kSamples);

        // Two nodes that this machine need not have: what the kernel answers is its own affair.
        MemorySampling memory(file, processes, {{0, {0}, 1 << 30, {10, 21}}, {1, {1}, 1 << 30, {21, 10}}}, look_up_page_nodes,
                              "/proc", monotonic_ns(), 16u << 20);
        std::vector<char> pages(kTouched, 1);
        size_t told = 0;
        begin = cpu_ns();
        for (size_t i = 0; i < kSamples / 10; ++i) {
            auto access = accesses.take(samples[i % samples.size()], 1);
            if (!access)
                continue;
            ++told;
            access->cpu = static_cast<int>(i % 2);
            access->address = reinterpret_cast<uint64_t>(pages.data()) + i * 4999 % kTouched;
            memory.take(*access, 0);
            if (told % kSettledTogether == 0)
                memory.settle(monotonic_ns(), false);
        }
        memory.settle(monotonic_ns(), true);
        const double each_ns = (cpu_ns() - begin) / static_cast<double>(std::max<size_t>(told, 1));
        std::printf("with the node of its page    %8.0f ns a sample (wanted: 1000; %s)%s\n", each_ns,
                    memory.located() > 0 ? "nodes are known" : "the kernel reported no node", each_ns > 1000 ? "  MISSED" : "");
    }
    std::filesystem::remove_all(folder);
    return 0;
}
