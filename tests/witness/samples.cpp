#include "samples.h"

#include "record/perf/perf_record.h"
#include "record/perf/perf_ring.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plumb::witness {

namespace {

using record::PerfKind;
using record::PerfRecord;

constexpr size_t kRingPages = 128; // what an unprivileged user may lock a CPU

perf_event_attr event_of(const SamplingPlan& plan) {
    perf_event_attr event{};
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_CPU_CLOCK;
    event.freq = 1;
    event.sample_freq = plan.rate_hz;
    event.sample_type = record::kSampleFields | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    event.sample_regs_user = record::kUserRegisters;
    event.sample_stack_user = plan.stack_bytes;
    event.exclude_kernel = event.exclude_hv = 1;
    event.disabled = event.enable_on_exec = event.inherit = 1;
    event.mmap = event.mmap2 = event.comm = event.comm_exec = event.task = event.sample_id_all = 1;
    event.use_clockid = 1;
    event.clockid = CLOCK_MONOTONIC;
    return event;
}

// A child that waits for a byte before it becomes the command.
class Child {
  public:
    explicit Child(char* const* command) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            return;
        pid_ = fork();
        if (pid_ == 0) {
            setpgid(0, 0);
            const int nothing = open("/dev/null", O_RDWR);
            for (int fd : {0, 1, 2})
                dup2(nothing, fd);
            char byte;
            if (read(ends[0], &byte, 1) == 1)
                execvp(command[0], command);
            _exit(127);
        }
        close(ends[0]);
        go_ = ends[1];
    }
    ~Child() {
        end();
        if (go_ >= 0)
            close(go_);
    }
    pid_t pid() const { return pid_; }
    bool start() { return pid_ > 0 && write(go_, "g", 1) == 1; }
    bool has_ended() {
        int status;
        if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_)
            pid_ = -1;
        return pid_ <= 0;
    }
    // With all of its group, which children of a program belong to unless they leave it.
    void end() {
        if (pid_ <= 0)
            return;
        kill(-pid_, SIGKILL);
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

  private:
    pid_t pid_ = -1;
    int go_ = -1;
};

// A record that outlives its ring.
struct KeptRecord {
    uint64_t time_ns;
    std::vector<uint64_t> words; // header and contents
    const perf_event_header& header() const { return *reinterpret_cast<const perf_event_header*>(words.data()); }
};

class Replay {
  public:
    explicit Replay(Samples& samples) : samples_(samples) {}

    void take(const PerfRecord& record) {
        switch (record.kind) {
        case PerfKind::fork:
            if (record.pid != record.parent_pid)
                program_of(record.pid) = program_of(record.parent_pid); // shared until one of them executes another
            break;
        case PerfKind::exec:
            program_of(record.pid) = samples_.programs.size();
            samples_.programs.emplace_back();
            break;
        case PerfKind::mapping: {
            const bool has_file = record.text.starts_with('/') && !record.text.starts_with("//") && !record.text.starts_with("/dev/") &&
                                  !record.text.starts_with("/memfd:") && !record.text.ends_with(" (deleted)");
            samples_.programs[program_of(record.pid)].map({record.start, record.start + record.length, record.page_offset,
                                                           has_file || record.text == "[vdso]" ? std::string(record.text) : ""});
            break;
        }
        case PerfKind::sample:
            add_sample(record);
            break;
        default:
            break;
        }
    }

  private:
    size_t& program_of(uint32_t pid) {
        const auto [entry, is_new] = program_of_.try_emplace(pid, samples_.programs.size());
        if (is_new)
            samples_.programs.emplace_back();
        return entry->second;
    }

    void add_sample(const PerfRecord& record) {
        if (record.register_abi != PERF_SAMPLE_REGS_ABI_64 || record.registers.size() != kRegisters || record.stack.empty())
            return;
        Sample sample;
        sample.program = program_of(record.pid);
        for (size_t i = 0; i < kRegisters; ++i)
            sample.registers[record::kDwarfNumbers[i]] = record.registers[i];
        sample.stack.assign(record.stack.begin(), record.stack.end());
        samples_.all.push_back(std::move(sample));
    }

    Samples& samples_;
    std::map<uint32_t, size_t> program_of_; // pid
};

} // namespace

const Mapping* Program::at(uint64_t address) const {
    auto after = mappings.upper_bound(address);
    if (after == mappings.begin())
        return nullptr;
    const Mapping& mapping = (--after)->second;
    return address < mapping.end ? &mapping : nullptr;
}

void Program::map(Mapping mapping) {
    const auto note = [&](const Mapping& before) {
        if (!before.path.empty() && before.path != mapping.path)
            replaced.push_back({std::max(before.start, mapping.start), std::min(before.end, mapping.end)});
    };
    auto at = mappings.lower_bound(mapping.start);
    if (at != mappings.begin() && std::prev(at)->second.end > mapping.start) {
        const Mapping before = std::prev(at)->second;
        note(before);
        std::prev(at)->second.end = mapping.start;
        if (before.end > mapping.end)
            mappings[mapping.end] = {mapping.end, before.end, before.file_offset + (mapping.end - before.start), before.path};
    }
    while (at != mappings.end() && at->first < mapping.end) {
        Mapping behind = at->second;
        note(behind);
        at = mappings.erase(at);
        if (behind.end <= mapping.end)
            continue;
        behind.file_offset += mapping.end - behind.start;
        behind.start = mapping.end;
        mappings[behind.start] = std::move(behind);
        break;
    }
    mappings[mapping.start] = std::move(mapping);
}

bool Sample::word(uint64_t address, uint64_t& value) const {
    if (address < sp() || stack.size() < sizeof value || address - sp() > stack.size() - sizeof value)
        return false;
    std::memcpy(&value, stack.data() + (address - sp()), sizeof value);
    return true;
}

Samples sample_program(char* const* command, const SamplingPlan& plan) {
    Samples samples;
    Child child(command);
    const perf_event_attr event = event_of(plan);
    std::vector<record::PerfRing> rings;
    for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); ++cpu) {
        record::PerfRing ring;
        const int error = ring.open(event, child.pid(), cpu, kRingPages);
        if (error == 0)
            rings.push_back(std::move(ring));
        else if (error != ENODEV) { // the CPU is offline
            samples.error = std::string("perf_event_open: ") + std::strerror(error);
            return samples;
        }
    }
    if (!child.start()) {
        samples.error = "the command cannot be started";
        return samples;
    }

    std::vector<KeptRecord> records;
    size_t sampled = 0;
    const unsigned registers = std::popcount(event.sample_regs_user);
    const auto drain = [&] {
        for (record::PerfRing& ring : rings)
            ring.drain([&](const perf_event_header& header) {
                const auto record = record::decode(header, event.sample_type, registers);
                if (!record || (record->kind == PerfKind::sample && ++sampled > plan.most_samples))
                    return;
                const auto* words = reinterpret_cast<const uint64_t*>(&header);
                records.push_back({record->time_ns, {words, words + header.size / sizeof(uint64_t)}});
            });
    };
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(plan.most_seconds);
    while (!child.has_ended() && sampled < plan.most_samples && Clock::now() < end) {
        usleep(1000);
        drain();
    }
    child.end();
    drain();

    std::stable_sort(records.begin(), records.end(), [](const KeptRecord& a, const KeptRecord& b) { return a.time_ns < b.time_ns; });
    Replay replay(samples);
    for (const KeptRecord& kept : records)
        replay.take(*record::decode(kept.header(), event.sample_type, registers));
    return samples;
}

} // namespace plumb::witness
