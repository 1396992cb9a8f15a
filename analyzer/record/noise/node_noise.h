// Measures the noise of this node: threads that do fixed work on each CPU, and beside them the recorder, which is awake for as
// little as possible, and whose own time counts as nobody's noise.
#pragma once

#include "record/noise/absence_names.h"
#include "record/noise/absences.h"
#include "record/noise/cpu_users.h"
#include "record/noise/loss_log.h"
#include "record/noise/noise_options.h"
#include "record/noise/quanta_worker.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace plumb::record {

class NodeNoise {
  public:
    // Starts the threads; they wait. Throws Error.
    NodeNoise(const NoiseOptions& options, const std::vector<int>& cpus, const std::string& proc_root);

    void begin(); // the measurement
    uint64_t begin_ns() const { return begin_ns_; }

    // Takes what was measured since the last round. Returns when the next is due.
    uint64_t round();
    void end(); // stops the threads and takes the rest

    void awoke();   // to be called when the recorder wakes up
    void sleeps();  // and before it sleeps again
    std::vector<int> wake_fds() const; // readable: a round is due at once

    void write(NodeTraceWriter& file); // after the end

  private:
    struct Cpu {
        QuantaWorkers::Worker* worker = nullptr;
        std::optional<AbsenceWatch> watch;
        std::optional<LossLog> log;
        std::deque<Absence> absences; // not yet in a quantum, by time
        std::deque<uint64_t> own_ns;  // taken out of each of them
        uint64_t end_ns = 0;          // of the quanta taken so far
        std::vector<CpuUse> left_uses; // of an absence that goes on
        std::map<uint32_t, uint64_t> ahead_ns; // by thread: named already, and counted by the next look only
    };
    void read_absences(const std::vector<CpuUse>& uses);
    void name_absences(Cpu& cpu, std::vector<Absence>& absences, const std::vector<CpuUse>& uses);
    void take_quanta(Cpu& cpu, uint64_t head);
    void write_evidence(NodeTraceWriter& file) const;

    const NoiseOptions options_;
    const std::string proc_root_;
    QuantaWorkers workers_;
    uint32_t own_tid_;
    int own_cpu_;
    std::vector<Cpu> cpus_;
    NameTable names_;
    std::optional<CpuUsers> users_; // where records of switches name nobody
    std::vector<AwakeTime> awake_;
    uint64_t awoke_ns_ = 0, round_cpu_ns_ = 0, begin_ns_ = 0;
    uint64_t own_budget_ns_ = 0; // CPU time of the recorder that was not found in absences so far
};

} // namespace plumb::record
