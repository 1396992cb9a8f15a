// Time of the run that depended on page faults that read from a disk: of which file, from which line, in which order. Memory that
// was swapped out is named as such. Code of programs and libraries that is read when they start is information at most.
#include "analyses/lines/line_shares.h"
#include "analyses/time/kernel_cause.h"
#include "analyses/time/thread_times.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/wait_replay.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace plumb {

namespace {

using Source = model::PageRead::Source;

constexpr uint64_t kManyReads = 10;    // fewer may be all that there is to read
constexpr double kIsWalk = 0.75;       // of the faults, a little ahead of the one before
constexpr double kLeastPage_B = 4096;
// Reading ahead still reads: in large pieces, as fast as a solid-state disk behind SATA, the pages and up to three times as much besides
// them, at most all that is mapped. Where a slower disk would take longer, each fault waits that much longer, too. Judgements.
constexpr double kReadAhead_B_per_s = 500e6, kMostBesides = 3;
constexpr size_t kMostMappings = 3;
constexpr double kAllOf = 0.9; // of the times that a thread was blocked

struct FileRead {
    Source source = Source::unknown;
    std::string file;
    double waiting_s = 0, wall_s = 0;
    double kernel_s = 0, kernel_wall_s = 0; // CPU time of the same faults, and what of the wall time depended on it
    WaitReplay::Removed kernel_of;          // by thread
    uint64_t looks = 0, waits = 0; // of the waits at least so many
    uint64_t faults = 0, ahead = 0, mapped_bytes = 0;
    bool is_counted = false; // not only seen by looks: the faults are what its threads were blocked for
    std::set<const model::BlockedSite*> sites;
    std::map<std::pair<uint32_t, uint32_t>, std::set<model::SourceLine>> fault_lines; // by process and thread
    LineShares lines;

    double least_bytes() const { return static_cast<double>(faults) * kLeastPage_B; }
    double read_ahead_s() const {
        const double bytes = (1 + kMostBesides) * least_bytes();
        return (mapped_bytes > 0 ? std::min(bytes, static_cast<double>(mapped_bytes)) : bytes) / kReadAhead_B_per_s;
    }
    bool is_walk() const { return static_cast<double>(ahead) >= kIsWalk * static_cast<double>(faults) && faults > 0; }
};

using FileKey = std::pair<Source, std::string>;

FileKey key_of(const model::PageRead& read) { return {read.source, read.file}; }

// What most faults read at the instruction that the thread waits at; if none is known there, what most of the thread's do.
FileKey file_of(const model::Process& process, const model::BlockedSite& site) {
    const uint64_t address = site.path < process.paths.size() ? process.paths[site.path].address : 0;
    for (const bool here : {true, false}) {
        std::map<FileKey, uint64_t> faults;
        for (const model::PageRead& read : process.page_reads)
            if (read.thread == site.thread && (!here || read.address == address))
                faults[key_of(read)] += read.faults;
        if (!faults.empty())
            return std::ranges::max_element(faults, {}, [](const auto& entry) { return entry.second; })->first;
    }
    return {Source::unknown, ""};
}

std::string words_of(const FileRead& read) {
    switch (read.source) {
    case Source::file: return "pages of " + read.file;
    case Source::code: return "code of " + read.file;
    case Source::swap: return "memory that was swapped out";
    case Source::unknown: break;
    }
    return "pages that are read from a disk";
}

Advice advice_of(const FileRead& read) {
    if (read.source == Source::swap)
        return {"Need less memory, or run where there is more",
                "fewer processes a host, smaller buffers, or data in pieces that are done with before the next one is read", "launch",
                ""};
    if (read.source == Source::code)
        return {"Nothing in the program: it was not in the page cache", "a second start finds it there", "system", ""};
    if (read.is_walk())
        return {"Let the kernel read the mapped file further ahead",
                "madvise(MADV_SEQUENTIAL) for the mapping, or MADV_WILLNEED for the next piece while this one is used; or read() "
                "in blocks of at least 1 MiB",
                "code", ""};
    return {"Read the mapped file before it is used",
            "madvise(MADV_WILLNEED) for what will be used, or MAP_POPULATE, reads it in large pieces; so does read() in blocks "
            "of at least 1 MiB; if only a part is needed, visit it in the order of the file",
            "code", ""};
}

class PageIn : public Diagnosis {
  public:
    const char* id() const override { return "page-in"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        std::map<FileKey, FileRead> reads;
        for (const Wait& wait : replay.waits()) {
            if (wait.what.kind != WaitKind::page_in)
                continue;
            FileKey key = file_of(input.run.processes[wait.process], *wait.site);
            FileRead& read = reads[key];
            std::tie(read.source, read.file) = std::move(key);
            read.waiting_s += wait.seconds;
            read.wall_s += wait.wall_s;
            read.looks += wait.site->looks;
            read.waits += wait.count;
            read.sites.insert(wait.site);
            const model::SourceFrame frame = input.paths.user_frame(wait.process, wait.site->path);
            read.lines.add(frame, wait.seconds);
            read.fault_lines[{wait.process, wait.site->thread}].insert(model::source_line(frame));
        }
        for (auto& [key, read] : reads) {
            add_short_waits(input.run, replay, read);
            if (read.source != Source::code)
                add_kernel_time(input.paths, replay, read);
        }
        for (const model::Process& process : input.run.processes)
            for (const model::PageRead& page : process.page_reads)
                if (const auto read = reads.find(key_of(page)); read != reads.end()) {
                    read->second.faults += page.faults;
                    read->second.ahead += page.ahead;
                    read->second.mapped_bytes = std::max(read->second.mapped_bytes, page.mapped_bytes);
                }
        std::vector<const FileRead*> order;
        for (const auto& [key, read] : reads)
            if (is_known_well(read.looks, read.wall_s / replay.wall_s()) ||
                (read.is_counted && read.wall_s >= kLeastWallShare * replay.wall_s()))
                order.push_back(&read);
        std::ranges::stable_sort(order, std::greater<>(), &FileRead::wall_s);
        order.resize(std::min(order.size(), kMostMappings));
        std::vector<Finding> findings;
        for (const FileRead* read : order)
            findings.push_back(finding_of(input, replay, *read));
        return findings;
    }

  private:
    // A look seldom meets a wait of a fast disk, of less than 0.1 ms, and takes the thread for running. All faults are counted:
    // where a thread was blocked for nothing else, its exact blocked time is theirs, spread over its part of the wall time.
    static void add_short_waits(const model::Run& run, const WaitReplay& replay, FileRead& read) {
        double wall_s = 0;
        for (const auto& [of, lines] : read.fault_lines) {
            const auto& [process, index] = of;
            const model::Thread& thread = run.processes[process].threads[index];
            uint64_t faults = 0;
            for (const model::PageRead& page : run.processes[process].page_reads)
                faults += page.thread == index && key_of(page) == FileKey{read.source, read.file} ? page.faults : 0;
            const ThreadTimes times = thread_times(thread);
            double waiting_s = 0, seen_wall_s = 0, thread_wall_ns = static_cast<double>(thread.wall_running_ns);
            for (const Wait& wait : replay.waits()) {
                if (wait.process != process || wait.site->thread != index)
                    continue;
                thread_wall_ns += static_cast<double>(wait.site->wall_ns);
                if (read.sites.contains(wait.site)) {
                    waiting_s += wait.seconds;
                    seen_wall_s += wait.wall_s;
                }
            }
            if (faults >= kManyReads && waiting_s >= kAllOf * times.blocked_s && thread.switches.blocked_count > 0 &&
                static_cast<double>(faults) >= kAllOf * static_cast<double>(thread.switches.blocked_count)) {
                read.is_counted = true;
                wall_s += std::max(seen_wall_s, waiting_s / times.life_s() * thread_wall_ns * replay.wall_scale());
            } else
                wall_s += seen_wall_s;
        }
        read.wall_s = std::max(read.wall_s, wall_s);
    }

    // What page faults of the same threads at the same lines take of CPUs inside the kernel. Those that find their page in
    // memory are among them; they are much shorter.
    static void add_kernel_time(model::CallPaths& paths, const WaitReplay& replay, FileRead& read) {
        for (const auto& [of, lines] : read.fault_lines) {
            const model::Process& process = paths.run().processes[of.first];
            double sampled_ns = 0, faults_ns = 0;
            for (const model::SampleSite& site : process.samples) {
                if (site.thread != of.second)
                    continue;
                sampled_ns += static_cast<double>(site.time_ns);
                if (site.kernel_samples * 2 > site.samples &&
                    kernel_cause_of(paths, of.first, site.path).kind == KernelCause::Kind::page_fault &&
                    lines.contains(model::source_line(paths.user_frame(of.first, site.path))))
                    faults_ns += static_cast<double>(site.time_ns);
            }
            if (faults_ns <= 0)
                continue;
            const model::Thread& thread = process.threads[of.second];
            const double share = faults_ns / sampled_ns;
            const double running_ns = static_cast<double>(thread.wall_on_cpu_ns());
            read.kernel_s += share * thread_times(thread).run_s;
            read.kernel_of[of] += share * thread_times(thread).run_s;
            read.kernel_wall_s += share * running_ns * replay.wall_scale();
        }
    }

    Finding finding_of(const DiagnosisInput& input, const WaitReplay& replay, const FileRead& read) const {
        const double wall_s = replay.wall_s();
        const double cost_s = std::min(wall_s, read.wall_s + read.kernel_wall_s);
        const double without_s =
            replay.without(cost_s, [&](const Wait& wait) { return read.sites.contains(wait.site); }, read.kernel_of);
        Finding finding;
        finding.id = id();
        finding.confidence = read.source == Source::unknown ? 0.7 : 0.9;
        finding.cost.seconds = cost_s;
        finding.cost.fraction = finding.cost.seconds / wall_s;
        finding.where = read.lines.heaviest(kMostLines);
        finding.title = fmt::format("The run waits for {} in {:.0f} % of its time, in page faults", words_of(read),
                                    100 * finding.cost.fraction);
        if (!finding.where.empty())
            finding.title += ", from " + place_name(finding.where[0]);
        // Faults all over a file wait for one page each, which reading ahead saves, but for what that takes. In a walk the kernel
        // reads ahead already: what is left may be the disk's bandwidth.
        const double gain = (wall_s - without_s) / wall_s;
        const uint64_t waits = std::max(read.faults, read.waits);
        const bool is_scattered = read.source == Source::file && !read.is_walk() && waits >= kManyReads && read.faults > 0;
        const double kept = gain / static_cast<double>(std::max<uint64_t>(waits, 1)) +
                            (is_scattered ? read.read_ahead_s() / wall_s : 0);
        finding.gain = {gain, "the run without these waits"};
        if (is_scattered || read.source == Source::swap)
            finding.gain.likely = std::max(0.0, gain - kept);
        else
            finding.gain.at_least = 0;
        finding.subject.kind = "device";
        finding.subject.name = read.file.empty() ? words_of(read) : read.file;
        finding.evidence["waiting_seconds"] = read.waiting_s;
        if (read.kernel_s > 0)
            finding.evidence["kernel_seconds"] = read.kernel_s;
        finding.evidence["look_count"] = static_cast<int64_t>(read.looks);
        if (read.faults > 0) {
            finding.evidence["page_fault_count"] = static_cast<int64_t>(read.faults);
            finding.evidence["least_read_bytes"] = read.least_bytes();
            finding.evidence["in_order_fraction"] = static_cast<double>(read.ahead) / static_cast<double>(read.faults);
        }
        if (read.mapped_bytes > 0 && read.source == Source::file)
            finding.evidence["mapped_bytes"] = static_cast<double>(read.mapped_bytes);
        finding.advice.push_back(advice_of(read));
        note_unplaced(read.lines, input.run, finding);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_page_in() { return std::make_unique<PageIn>(); }

} // namespace plumb
