// Busy threads that the scheduler moves from CPU to CPU many times a second. No clock shows what a move costs. It is estimated as
// what refilling the core's own cache takes, and never as more than half of what the thread ran between two moves. It can be less,
// where the thread uses little memory, and more: data that the thread changed lies in the other core's cache, and a sleeping CPU
// must wake up first.
#include "analyses/lines/launch_command.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/common/task_names.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr uint64_t kLeastMoves = 100;        // of one thread: a handful is the scheduler doing its work
constexpr double kLeastRate = 20;            // a second of the thread's CPU time
constexpr double kLeastBusy = 0.7;           // of its life, less its waiting for CPUs: threads that sleep wake up wherever there is room
constexpr double kLeastLife_s = 0.5;
constexpr double kLeastCost = 0.01;          // of the run
constexpr double kUsualCache_bytes = 1 << 20;
constexpr double kRefill_bytes_per_s = 10e9; // from the shared cache or from memory
constexpr double kMove_s = 5e-6;             // the switch itself

double cache_bytes_of(const model::Host& host) {
    const auto known = host.topology.core_cache_bytes();
    return known ? static_cast<double>(*known) : kUsualCache_bytes;
}

struct MigrationCost {
    Task task;
    double cost_s = 0;
    uint64_t moves = 0;
    bool exact = false;
};

class ThreadMigration : public Diagnosis {
  public:
    const char* id() const override { return "thread-migration"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const RunTotals totals = totals_of(input.run);
        std::vector<MigrationCost> moved;
        for (size_t process = 0; process < input.run.processes.size(); process++)
            for (size_t thread = 0; thread < input.run.processes[process].threads.size(); thread++)
                if (const MigrationCost move = moved_of(input.run, process, thread); move.cost_s > 0)
                    moved.push_back(move);
        double cost_s = 0;
        for (const MigrationCost& move : moved)
            cost_s += move.cost_s;
        cost_s /= totals.concurrency;
        if (moved.empty() || totals.wall_s <= 0 || cost_s < kLeastCost * totals.wall_s)
            return {};
        return {finding_of(input, totals, moved, cost_s)};
    }

  private:
    static MigrationCost moved_of(const model::Run& run, size_t process, size_t index) {
        const model::Thread& thread = run.processes[process].threads[index];
        const double run_s = static_cast<double>(thread.run_ns) * 1e-9;
        const double life_s = static_cast<double>(thread.end_ns - std::min(thread.end_ns, thread.start_ns)) * 1e-9;
        const double delay_s = static_cast<double>(thread.run_delay_ns) * 1e-9;
        if (thread.migrations < kLeastMoves || life_s < kLeastLife_s || run_s < kLeastBusy * (life_s - delay_s) ||
            static_cast<double>(thread.migrations) < kLeastRate * run_s)
            return {};
        const model::Host* host = nullptr;
        for (const model::Host& candidate : run.hosts)
            if (candidate.name == run.processes[process].host || run.hosts.size() == 1)
                host = &candidate;
        const double refill_s = (host ? cache_bytes_of(*host) : kUsualCache_bytes) / kRefill_bytes_per_s;
        const double between_s = run_s / static_cast<double>(thread.migrations);
        const double each_s = std::min(kMove_s + refill_s, between_s / 2);
        return {{process, index, false, run_s, delay_s},
                each_s * static_cast<double>(thread.migrations), thread.migrations, thread.migrations_exact};
    }

    Finding finding_of(const DiagnosisInput& input, const RunTotals& totals, std::vector<MigrationCost> moved,
                       double cost_s) const {
        std::sort(moved.begin(), moved.end(),
                  [](const MigrationCost& left, const MigrationCost& right) { return left.moves > right.moves; });
        std::vector<Task> tasks;
        std::vector<std::string> names;
        uint64_t moves = 0;
        double run_s = 0;
        bool exact = true;
        for (const MigrationCost& move : moved) {
            tasks.push_back(move.task);
            if (names.size() < 64)
                names.push_back(task_name(input.run, move.task));
            moves += move.moves;
            run_s += move.task.run_s;
            exact = exact && move.exact;
        }
        Finding finding;
        finding.id = id();
        // An estimate that nothing measured does not shout.
        finding.cost = {cost_s, cost_s / totals.wall_s, "estimated"};
        finding.confidence = exact ? 0.6 : 0.5;
        finding.title = fmt::format("{} moved from CPU to CPU {:.0f} times a second of {} CPU time", count_of(tasks),
                                    static_cast<double>(moves) / run_s, tasks.size() == 1 ? "its" : "their");
        finding.gain = {finding.cost.fraction,
                        fmt::format("estimated, not measured: {:.0f} us a move, and a refill of the core's own cache at {:.0f} GB/s; "
                                    "less where the thread uses little memory, more where the other CPU must wake up",
                                    kMove_s * 1e6, kRefill_bytes_per_s * 1e-9)};
        finding.fixed_severity = std::min(Severity::medium, severity_of(finding.gain, totals.wall_s));
        finding.where = lines_of(input.paths, tasks).heaviest(5);
        finding.subject.kind = "thread";
        finding.subject.name = names.front();
        finding.subject.details["threads"] = names;
        finding.evidence["migration_count"] = static_cast<int64_t>(moves);
        finding.evidence["migrations_per_second"] = static_cast<double>(moves) / run_s;
        finding.evidence["migrations_exact"] = exact;
        finding.evidence["cost_per_migration_us"] =
            cost_s * totals.concurrency * 1e6 / static_cast<double>(moves);
        finding.evidence["run_between_moves_ms"] = run_s * 1e3 / static_cast<double>(moves);
        finding.advice.push_back({"Keep each thread on its CPU",
            "its caches stay warm, and its memory stays near", "launch",
            plumb_run_line(input.run, "--pin=scatter")});
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_thread_migration() { return std::make_unique<ThreadMigration>(); }

} // namespace plumb
