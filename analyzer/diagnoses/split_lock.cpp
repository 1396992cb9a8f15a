// Locked instructions that cross a cache line. The CPU cannot lock two lines by its coherence protocol: it locks the
// bus of the whole machine, or traps; so other jobs pay as well, and the rate alone makes it serious.
#include "diagnoses/access_words.h"
#include "diagnoses/registry.h"
#include "diagnoses/run_totals.h"
#include "diagnoses/unaligned_objects.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace plumb {

namespace {

// From here on high, whatever it costs this run. A kernel that detects split locks lets a thread make 100 a second (it
// puts it to sleep for 10 ms each time); a few hundred is more than a program survives there. On a machine that does
// not, every one of them halts all CPUs' access to memory.
constexpr double kHighRate_per_s = 300;
constexpr double kMediumRate_per_s = 30;
constexpr uint64_t kFew = 10;            // in a whole run: start-up code, told as info
constexpr double kTrappedLock_ns = 5000; // no bus lock takes that long: the kernel or the hypervisor traps it

class SplitLock : public Diagnosis {
  public:
    const char* id() const override { return "split-lock"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const UnalignedAccesses& accesses = unaligned_accesses(input);
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
        const double count = count_of(object, accesses);
        const double rate = totals.wall_s > 0 ? count / totals.wall_s : 0;
        Finding finding = object_finding(object, accesses);
        finding.id = id();
        finding.cost = run_cost(object.cost, accesses, input.run);
        finding.severity = severity_of(count, rate, finding.cost.fraction);
        finding.title = fmt::format("{}{} split locks, {:.0f} a second: a {} {} {} crosses a cache line",
                                    object.counts.exact ? "" : "at least ",
                                    grouped(static_cast<uint64_t>(std::llround(count))), rate,
                                    access_words(object.kind), "to", object_words(object.data));
        if (!object.cause.why.empty())
            finding.title += "; " + object.cause.why;
        finding.gain = {finding.cost.fraction, "all of it, once the data are aligned; other jobs of the machine gain too"};
        finding.evidence["split_lock_count"] = static_cast<int64_t>(std::llround(count));
        finding.evidence["split_locks_per_second"] = rate;
        finding.evidence["high_from_per_second"] = kHighRate_per_s;
        if (accesses.penalties)
            add_machine(*accesses.penalties, count, totals.wall_s, finding);
        else
            finding.evidence["other_jobs"] = std::string("what one costs was not measured here: on bare metal each halts "
                                                         "every CPU's access to memory");
        finding.advice.insert(finding.advice.begin(),
            {"Align atomics and locks to their size",
             "no atomic, mutex or reference count in a packed structure or at an odd offset of a buffer; alignas(64) "
             "keeps it on a line of its own, which helps against contention as well", "code", ""});
        return finding;
    }

    // In find mode only some were caught; the time that the line took bounds how many there can have been.
    static double count_of(const UnalignedObject& object, const UnalignedAccesses& accesses) {
        const double caught = static_cast<double>(object.counts.line_crossings);
        if (object.counts.exact || !accesses.penalties || object.cost.how != AccessCost::How::estimated)
            return std::max(caught, 1.0);
        const double one_ns = accesses.penalties->split_lock_ns - accesses.penalties->locked_ns;
        return one_ns > 0 ? std::max(caught, object.cost.split_lock_s * 1e9 / one_ns) : std::max(caught, 1.0);
    }

    static Severity severity_of(double count, double rate, double fraction) {
        if (count < kFew)
            return Severity::info;
        const Severity by_rate = rate >= kHighRate_per_s     ? Severity::high
                                 : rate >= kMediumRate_per_s ? Severity::medium
                                                             : Severity::low;
        return std::max(by_rate, severity_of_cost(fraction));
    }

    static void add_machine(const model::AccessPenalties& machine, double count, double wall_s, Finding& finding) {
        if (machine.split_lock_ns > 0) {
            finding.evidence["split_lock_ns"] = machine.split_lock_ns;
            finding.evidence["aligned_lock_ns"] = machine.locked_ns;
            const bool trapped = machine.split_lock_ns >= kTrappedLock_ns;
            finding.evidence["other_jobs"] =
                trapped ? std::string("here the kernel or the hypervisor traps each one, so that its own thread pays and "
                                      "other CPUs are spared; on bare metal without detection each halts every CPU's "
                                      "access to memory")
                        : fmt::format("each halts every CPU's access to memory: up to {:.2g} % of the run, for every job "
                                      "of the machine", wall_s > 0 ? std::min(100.0, 1e-7 * count * machine.split_lock_ns /
                                                                                          wall_s) : 0.0);
        }
        if (!machine.split_lock_setting.empty())
            finding.evidence["kernel_setting"] = machine.split_lock_setting;
        finding.advice.push_back({"Ask what the kernel does about split locks",
            machine.split_lock_setting.empty()
                ? std::string("the boot option split_lock_detect (off, warn, fatal, ratelimit:N) and the setting "
                              "kernel.split_lock_mitigate; what this machine does could not be read")
                : "here: " + machine.split_lock_setting + ". Machines differ: the boot option split_lock_detect (off, "
                  "warn, fatal, ratelimit:N) may end the same program elsewhere",
            "system", "sysctl kernel.split_lock_mitigate"});
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_split_lock() { return std::make_unique<SplitLock>(); }

} // namespace plumb
