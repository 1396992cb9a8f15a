// Locked instructions that cross a cache line. The CPU cannot lock two lines by its coherence protocol: it locks the
// bus of the whole machine, or traps; so other jobs pay as well, and the rate alone makes it serious.
#include "analyses/analyses.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/access/unaligned_objects.h"
#include "diagnoses/common/access_words.h"
#include "diagnoses/registry.h"
#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kTrappedLock_ns = 5000; // no bus lock takes that long: the kernel or the hypervisor traps it

class SplitLock : public Diagnosis {
  public:
    const char* id() const override { return "split-lock"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const UnalignedAccesses& accesses = input.analyses.accesses;
        std::vector<Finding> findings;
        for (const UnalignedObject& object : unaligned_objects(accesses, [](const AccessLine& line) {
                 return line.kind.locked && line.counts.line_crossings + line.sampled_line_crossings > 0;
             }))
            findings.push_back(finding_of(input, accesses, object));
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, const UnalignedAccesses& accesses,
                       const UnalignedObject& object) const {
        const RunTotals totals = totals_of(input.run);
        const double count = std::max(static_cast<double>(object.counts.line_crossings), 1.0);
        const double rate = totals.wall_s > 0 ? count / totals.wall_s : 0;
        Finding finding = object_finding(object, accesses);
        finding.id = id();
        finding.cost = run_cost(object.cost, accesses, input.run);
        const double most = most_of(object, accesses);
        finding.title = fmt::format("{}: a {} to {} crosses a cache line", count_words(object.counts.exact, count, most, rate),
                                    access_words(object.kind), object_words(object.data));
        if (!object.cause.why.empty())
            finding.title += "; " + object.cause.why;
        finding.gain = {finding.cost.fraction, "all of it, once the data is aligned; other jobs of the machine gain too"};
        finding.evidence["split_lock_count"] = static_cast<int64_t>(std::llround(count));
        finding.evidence["split_locks_per_second"] = rate;
        if (most > count)
            finding.evidence["split_lock_estimate_most_count"] = static_cast<int64_t>(std::llround(most));
        if (accesses.penalties)
            add_machine(*accesses.penalties, std::max(count, most), totals.wall_s, finding);
        else
            finding.evidence["other_jobs"] = std::string("the cost of one was not measured; on bare metal each split lock "
                                                         "stalls memory access on every CPU of the machine");
        finding.advice.insert(finding.advice.begin(),
            {"Align atomics and locks to their size",
             "put no atomic, mutex or reference count into a packed structure or at an odd offset of a buffer; alignas(64) "
             "gives it its own line, which also reduces contention", "code", ""});
        return finding;
    }

    // In find mode only some were caught. The time that samples saw there is that of no more than this: one alone, as it
    // was timed on this machine, takes less than one that meets others. 0: nothing is known beyond those caught.
    static double most_of(const UnalignedObject& object, const UnalignedAccesses& accesses) {
        if (object.counts.exact || !accesses.penalties || object.cost.how != AccessCost::How::estimated)
            return 0;
        const double one_ns = accesses.penalties->split_lock_ns - accesses.penalties->locked_ns;
        return one_ns > 0 ? object.cost.split_lock_s * 1e9 / one_ns : 0;
    }

    // What was counted, and what is estimated, each by its name.
    static std::string count_words(bool exact, double count, double most, double rate) {
        const std::string number = grouped(static_cast<uint64_t>(std::llround(count)));
        if (exact)
            return fmt::format("{} split locks, {:.0f} a second", number, rate);
        const double unit = most > 100 ? std::pow(10, std::floor(std::log10(most)) - 1) : 1; // two digits
        return most > count ? fmt::format("{} split locks caught, at most {} in all (estimated)", number,
                                          grouped(static_cast<uint64_t>(std::ceil(most / unit) * unit)))
                            : fmt::format("{} split locks caught; there may be more", number);
    }

    static void add_machine(const model::AccessPenalties& machine, double count, double wall_s, Finding& finding) {
        if (machine.split_lock_ns > 0) {
            finding.evidence["split_lock_ns"] = machine.split_lock_ns;
            finding.evidence["aligned_lock_ns"] = machine.locked_ns;
            const bool trapped = machine.split_lock_ns >= kTrappedLock_ns;
            finding.evidence["other_jobs"] =
                trapped ? std::string("the kernel or the hypervisor traps each one here, which delays only its own thread; on "
                                      "bare metal without detection each one stalls memory access on every CPU of the machine")
                        : fmt::format("each split lock stalls memory access on every CPU of the machine: up to {} of the run, "
                                      "for every job",
                                      format_fraction(wall_s > 0 ? std::min(1.0, 1e-9 * count * machine.split_lock_ns / wall_s)
                                                                 : 0.0));
        }
        if (!machine.split_lock_setting.empty())
            finding.evidence["kernel_setting"] = machine.split_lock_setting;
        finding.advice.push_back({"Check what the kernel does about split locks",
            machine.split_lock_setting.empty()
                ? std::string("see the boot option split_lock_detect (off, warn, fatal, ratelimit:N) and the setting "
                              "kernel.split_lock_mitigate; the setting of this machine could not be read")
                : "here: " + machine.split_lock_setting + ". On other machines the boot option split_lock_detect (off, warn, "
                                                          "fatal, ratelimit:N) may end the same program",
            "system", "sysctl kernel.split_lock_mitigate"});
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_split_lock() { return std::make_unique<SplitLock>(); }

} // namespace plumb
