// Lines at which threads do nothing until data come, by the CPU's own counters: how much of the CPU time, and how far the data
// were. What other findings save of it (pages, strides, far nodes, bandwidth) they tell themselves: this one knows where, not why.
#include "analyses/accesses/touched_data.h"
#include "analyses/time/event_places.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/common/changeable_code.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kLeastStalled = 0.1;      // of all cycles: some are stalled in any program
constexpr double kMostly = 0.5;
constexpr double kLeastMissCycles = 20;    // a miss of the last level, if as many others as can be are under way at the same time

// Cycles in which nothing was done. What the CPU counts of cycles stalled for any reason is memory's where misses of the last level
// make as many; elsewhere the reason may be a division or a dependence, and nothing is claimed.
struct Stalls {
    const EventPlaces* places = nullptr;
    bool is_of_memory = false; // by the event itself
};

Stalls stalls_of(const std::vector<EventPlaces>& all) {
    if (const EventPlaces* of_memory = find_event_places(all, "memory stalls"))
        return {of_memory, true};
    return {find_event_places(all, "stalled cycles"), false};
}

enum class Level { unknown, caches, memory };

Level level_at(const Location& line, const EventPlaces& stalls, const EventPlaces* behind_last, const EventPlaces* misses) {
    const double stalled = stalls.events_at(line);
    if (behind_last)
        return behind_last->events_at(line) >= kMostly * stalled ? Level::memory : Level::caches;
    return misses && misses->events_at(line) * kLeastMissCycles >= kMostly * stalled ? Level::memory : Level::unknown;
}

// The variable that most of the line's sampled accesses were to; empty: none has a name.
std::string touched_at(model::CallPaths& paths, const Location& line) {
    std::string name;
    uint64_t most_ns = 0;
    const std::vector<model::Process>& processes = paths.run().processes;
    for (size_t process = 0; process < processes.size(); ++process)
        for (const model::SampledAccess& access : processes[process].sampled_accesses) {
            if (access.time_ns <= most_ns)
                continue;
            const model::SourceFrame frame = paths.user_frame_at(process, access.address, 0);
            if (frame.module != line.module || frame.file != line.file || frame.line != line.line || line.line == 0)
                continue;
            if (std::string touched = touched_static(paths, process, access).name; !touched.empty()) {
                name = std::move(touched);
                most_ns = access.time_ns;
            }
        }
    return name;
}

// Programs that came with the system's packages are not changed by who runs them.
bool are_users(const EventPlaces& stalls, const model::Run& run) {
    double users = 0;
    for (const EventPlaces::Thread& thread : stalls.threads)
        users += is_users_program(run.processes[thread.process]) ? thread.events : 0;
    return users >= kMostly * stalls.events;
}

const char* words_of(Level level) {
    switch (level) {
    case Level::caches:
        return "a cache behind the first one";
    case Level::memory:
        return "memory";
    case Level::unknown:
        break;
    }
    return "not known";
}

class MemoryStall : public Diagnosis {
  public:
    const char* id() const override { return "memory-stall"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const std::vector<EventPlaces> all = event_places_of(input.paths);
        const EventPlaces* const cycles = find_event_places(all, "cycles");
        const auto [stalls, is_of_memory] = stalls_of(all);
        const RunTotals totals = totals_of(input.run);
        if (!cycles || !stalls || cycles->events <= 0 || totals.wall_s <= 0)
            return {};
        const double share = std::min(1.0, stalls->events / cycles->events);
        const EventPlaces* const behind_last = find_event_places(all, "last level stalls");
        const EventPlaces* const misses = find_event_places(all, "last level misses");
        if (!is_of_memory && (!misses || misses->events * kLeastMissCycles < kMostly * stalls->events))
            return {};
        // Both were sampled at the same times, and a sample of either stands for as many cycles.
        const double confidence = confidence_above(std::min(stalls->samples, cycles->samples), cycles->samples, kLeastStalled);
        const std::vector<Location> where = stalls->lines.heaviest(kMostLines);
        if (confidence < kLeastConfidence || where.empty())
            return {};
        const Level level = level_at(where.front(), *stalls, behind_last, misses);
        Finding finding;
        finding.id = id();
        finding.confidence = confidence;
        finding.cost.seconds = totals.wall_of_share(share);
        finding.cost.fraction = finding.cost.seconds / totals.wall_s;
        finding.where = where;
        finding.title = fmt::format("In {:.0f} % of their cycles threads do nothing until data come, most of all at {}",
                                    100 * share, place_name(where.front()));
        finding.gain = {.fraction = finding.cost.fraction, .how = "if no cycle waited for data any more", .is_at_most = true};
        // How much of it can be had is not known: it depends on what the line does.
        finding.fixed_severity = std::min(are_users(*stalls, input.run) ? Severity::medium : Severity::info,
                                          severity_of(finding.gain, totals.wall_s));
        finding.evidence["stalled_fraction"] = share;
        finding.evidence["cycle_samples"] = static_cast<int64_t>(cycles->samples);
        finding.evidence["stall_samples"] = static_cast<int64_t>(stalls->samples);
        finding.evidence["line_fraction_of_cycles"] = cycles->events_at(where.front()) / cycles->events;
        finding.evidence["data_come_from"] = std::string(words_of(level));
        if (behind_last)
            finding.evidence["behind_last_level_fraction"] =
                std::min(1.0, behind_last->events_at(where.front()) / stalls->events_at(where.front()));
        finding.subject = {"call-site", place_name(where.front()), {}};
        if (const std::string data = touched_at(input.paths, where.front()); !data.empty())
            finding.subject = {"variable", data, {}};
        note_unplaced(stalls->lines, input.run, finding);
        add_advice(finding, level);
        return {finding};
    }

  private:
    static void add_advice(Finding& finding, Level level) {
        switch (level) {
        case Level::memory:
            finding.advice.push_back({"Fetch less, or use what is fetched more often",
                                      "keep what one pass uses together (a structure of arrays, smaller types); do several steps on a "
                                      "block of data while it is in a cache; of pointers that lead to pointers, follow several chains "
                                      "in turn",
                                      "code", ""});
            break;
        case Level::caches:
            finding.advice.push_back({"Keep the working set in the first cache",
                                      "smaller blocks, smaller types; loads whose addresses do not depend on one another overlap, those "
                                      "that do wait one for another",
                                      "code", ""});
            break;
        case Level::unknown:
            finding.advice.push_back({"See what the line loads, and from where",
                                      "this CPU does not count which cache the data came from; a smaller input that fits into a cache "
                                      "shows whether the time goes with the size",
                                      "code", ""});
            break;
        }
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_memory_stall() { return std::make_unique<MemoryStall>(); }

} // namespace plumb
