// One model::Process under construction: merges what several files say about its threads, modules, samples and heap.
#pragma once

#include "model/run.h"
#include "trace/builders/alignment_builder.h"
#include "trace/builders/heap_builder.h"
#include "trace/builders/memory_builder.h"
#include "trace/builders/module_builder.h"
#include "trace/builders/mpi_builder.h"
#include "trace/builders/openmp_builder.h"
#include "trace/builders/region_builder.h"
#include "trace/builders/sharing_builder.h"
#include "trace/builders/thread_builder.h"
#include "trace/builders/traffic_builder.h"
#include "trace/context/file_context.h"
#include "trace/context/path_merger.h"
#include "trace/file/mixed_hash.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace plumb::trace {

class ProcessBuilder {
  public:
    // `number`: of the process in its run; `process` outlives the builder.
    ProcessBuilder(uint32_t number, model::Process& process)
        : number_(number), process_(process), threads_(process), modules_(process), heap_(process), regions_(process),
          alignment_(process), mpi_(process), openmp_(process), memory_(process), traffic_(process), sharing_(process) {}

    model::Process& process() { return process_; }

    void take(const ThreadStart& record, FileContext& context);
    void take(const ThreadEnd& record, FileContext& context);
    void take(const ThreadName& record, FileContext& context);
    void take(const ThreadSchedule& record, FileContext& context);
    void take(const ThreadInterval& record, FileContext& context);
    void take(const Placement& record, FileContext& context);
    void take(const Region& record, FileContext& context);

    void take(const ModuleLoad& record, FileContext& context);
    void take(const ModuleUnload& record, FileContext& context);

    void take(const SampleSite& record, FileContext& context);
    void take(const CounterSite& record, FileContext& context);
    void take(const CounterSample& record, FileContext& context);
    void take(const BlockedSite& record, FileContext& context);
    void take(const LockHolder& record, FileContext& context);
    void take(const ThreadWall& record, FileContext& context);
    void take(const PageRead& record, FileContext& context);
    void take(const SpinLoop& record, FileContext& context);
    void take(const ThreadSwitches& record, FileContext& context);
    void take(const Preemption& record, FileContext& context);
    void take(const ThreadsActive& record, FileContext& context);
    void take(const GoroutineWait& record, FileContext& context);
    void take(const GoroutineLooks& record, FileContext& context);
    // `peer_process`: number of the process of the record's peer, which `peer` builds.
    void take(const WaitedFor& record, uint32_t peer_process, ProcessBuilder& peer, FileContext& context);
    void take(const HeapTotals& record, FileContext& context);
    void take(const HeapSite& record, FileContext& context);

    void take(const AlignSite& record, FileContext& context);
    void take(const AlignCount& record, FileContext& context);
    void take(const AlignAddress& record, FileContext& context);
    void take(const AlignTotals& record, FileContext& context);
    void take(const AlignCode& record, FileContext& context);
    void take(const AccessSite& record, FileContext& context);
    void take(const AccessStride& record, FileContext& context);
    void take(const ReplayedAccess& record, FileContext& context);
    void take(const PackedLoop& record, FileContext& context);

    void take(const MemoryArea& record, FileContext& context);
    void take(const MemoryTraffic& record, FileContext& context);
    void take(const MemoryEpoch& record, FileContext& context);
    void take(const FirstTouch& record, FileContext& context);
    void take(const PageScatter& record, FileContext& context);
    void take(const MemoryStream& record, FileContext& context);
    void take(const TrafficBurst& record, FileContext& context);
    void take(const SharedLine& record, FileContext& context);
    void take(const LineUse& record, FileContext& context);
    void take(const ProcessMemory& record, FileContext& context);
    void take(const LargeMap& record, FileContext& context);
    void take(const LargeUnmap& record, FileContext& context);

    void take(const MpiRank& record, FileContext& context);
    void take(const MpiComm& record, FileContext& context);
    void take(const MpiSite& record, FileContext& context);
    void take(const MpiPeer& record, FileContext& context);
    void take(const MpiRequest& record, FileContext& context);
    void take(const MpiInside& record, FileContext& context);

    void take(const OmpRuntime& record, FileContext& context);
    void take(const OmpRegion& record, FileContext& context);
    void take(const OmpPart& record, FileContext& context);
    void take(const OmpWait& record, FileContext& context);

    void take(const ProcessGone& record, FileContext& context);
    void take(const ProcessEnd& record, FileContext& context);

    // Ids of modules and of instructions are private to their file: forgets them.
    void end_file() {
        modules_.end_file();
        alignment_.end_file();
        memory_.end_file();
        traffic_.end_file();
        sharing_.end_file();
    }
    // The same; and what was taken so far came from the shim's file `name`, begun at `opened_ns`.
    void end_shim_file(uint64_t opened_ns, const std::string& name) {
        end_file();
        mpi_.end_file(name);
        shim_last_ns_ = std::max(opened_ns, last_ns_);
    }
    uint64_t shim_last_ns() const { return shim_last_ns_; } // last sign of life of the shim, 0: there was none

    // `parent`: the process it was forked from; a fork begins with its parent's mappings.
    void inherit_modules(const model::Process& parent, Allowance& allowance) { modules_.inherit(parent, allowance); }

    // Fills what follows from the rest: ends, names.
    void finish();

    // Samples, allocations, unaligned accesses or MPI calls were recorded in it.
    bool has_evidence() const {
        return process_.mpi || !process_.samples.empty() || process_.heap.recorded || !process_.alignment.sites.empty() ||
               !process_.sampled_accesses.empty();
    }
    uint64_t last_ns() const { return last_ns_; } // last sign of life in what was taken

  private:
    uint32_t path(NodeId id, FileContext& context);
    uint64_t alive(uint64_t time_ns);

    uint32_t number_;
    model::Process& process_;
    PathTree tree_;
    ThreadBuilder threads_;
    ModuleBuilder modules_;
    HeapBuilder heap_;
    RegionBuilder regions_;
    AlignmentBuilder alignment_;
    MpiBuilder mpi_;
    OpenMpBuilder openmp_;
    MemoryBuilder memory_;
    TrafficBuilder traffic_;
    SharingBuilder sharing_;
    std::unordered_map<uint64_t, uint32_t, MixedHash> samples_; // by thread and path
    uint64_t last_ns_ = 0;
    uint64_t shim_last_ns_ = 0;
};

} // namespace plumb::trace
