// Memory accesses from time samples: each sample in user mode whose registers tell it gives one access, with its
// address. They are counted by instruction (AccessSite records); the single access is handed out for whoever asks more
// of it (the object, the page and its node). Samples are weighted by time: an access that is waited for is seen more
// often than one that is not, which is what a profile wants and what a count of executions is not.
#pragma once

#include "record/access/code/access_rule.h"
#include "record/access/code/code_reader.h"
#include "record/access/loops/loop_counter.h"
#include "record/access/loops/loop_path.h"
#include "record/access/loops/loop_streams.h"
#include "record/access/loops/replayable_loop.h"
#include "record/access/loops/wait_loop.h"
#include "record/perf/process_table.h"
#include "record/run/node_trace_writer.h"
#include "record/run/work_share.h"
#include "unwind/stack_unwinder.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace plumb::record {

struct StoreAhead { // of the interrupted instruction itself
    uint64_t address = 0, base_value = 0;
    uint16_t width = 0, flags = 0;
    uint8_t length = 0;
    std::array<uint8_t, 15> code{};
};

struct SampledAccess {
    uint32_t pid = 0, tid = 0;
    int cpu = -1;
    uint64_t time_ns = 0, weight_ns = 0;
    uint64_t sampled = 0;     // the interrupted instruction
    uint64_t instruction = 0; // the one that made the access, see access_rule.h
    uint64_t address = 0;
    uint16_t width = 0;       // bytes
    uint16_t flags = 0;       // trace::AlignFlags
    uint64_t generation = 0;  // of the process: which of the programs that it executed
    std::optional<LoopMove> move = std::nullopt; // from here to the next round of the loop, where the registers tell it
    bool in_loop = false; // that could be followed
    bool chases = false;  // the next access's address is made of what was loaded with the help of this one's
    bool updates = false; // what was loaded is stored again soon
    bool polls = false;   // the loop does nothing else than wait for another value there
    uint8_t length = 0;   // of the instruction that made the access
    std::array<uint8_t, 15> code{}; // its bytes
    uint64_t base_value = 0;        // of the base register of its operand
    std::optional<StoreAhead> store = std::nullopt; // the interrupted instruction is another one, and about to store
    shim::MemoryOperand operand{}; // that tells `address`
};

// All accesses of the loop that a sample was taken in.
struct SampledLoop {
    uint64_t begin = 0, end = 0; // addresses of its first and its last instruction
    uint64_t generation = 0;     // of the process
    std::vector<StreamPosition> positions; // by instruction
};

// The code around a sampled instruction.
struct LoopCode {
    std::shared_ptr<const ReplayableLoop> loop; // null: none that can be replayed
    std::vector<LoopCounter> counters;          // of the loops around it
    std::optional<WaitLoop> waiting;            // the innermost loop around it only waits; its addresses less the sampled one
};

class AccessSampling {
  public:
    // `images` knows where functions begin. `most_bytes_each`: of the file for one process; instructions that find no
    // room are counted as dropped and still handed out. `new_code_share`: of the run's time that code which was not seen
    // before may take; what is sampled there while it is used up is not reported. Loads the decoder.
    AccessSampling(NodeTraceWriter& file, ProcessTable& processes, unwind::StackUnwinder& images, uint64_t most_bytes_each,
                   double new_code_share);

    bool works() const { return why_.empty(); }
    const std::string& why() const { return why_; } // in words, when it does not

    // A sample that stands for `weight_ns` of CPU time. Nothing: taken in the kernel or without registers, or its
    // registers do not give an address. About 0.1 us for code that was seen before.
    std::optional<SampledAccess> take(const PerfRecord& sample, uint64_t weight_ns);

    // Of a sample that is not counted: the loop around it. Nothing: there is none that can be followed, or no time to. Some
    // ten microseconds for each access of the loop when code is met for the first time, then 0.2 us.
    std::optional<SampledLoop> loop_at(const PerfRecord& sample);

    // The same of its code, in files alone: code made at run time changes. Null: it is not known, or there is no time to look.
    std::shared_ptr<const LoopCode> loop_code_at(const PerfRecord& sample);

    // Whether its thread had called sched_yield: in the kernel, or just behind the system call.
    bool is_behind_yield(const PerfRecord& sample);

    void forget(uint32_t pid); // it ended: nothing more can come

    uint64_t user_samples() const { return user_samples_; } // that had registers
    uint64_t with_address() const { return with_address_; } // of them, with an address
    uint64_t line_crossings() const { return line_crossings_; }

    // What became of it, for the report's evidence. Once, at the end.
    void write_evidence(NodeTraceWriter& file) const;

  private:
    struct Entry {
        AccessPlan plan;
        trace::AccessSite* site = nullptr; // null: no plan, or no room
        uint64_t valid_until_ns = UINT64_MAX; // code made at run time changes
    };
    struct LoopEntry {
        std::shared_ptr<const LoopStreams> streams; // null: no loop
        uint64_t valid_until_ns = UINT64_MAX;
    };
    struct Code { // of one image of a process
        uint64_t generation = 0, bytes = 0;
        std::unordered_map<uint64_t, LoopEntry> loops;          // by sampled address
        std::unordered_map<uint64_t, Entry> entries;            // by sampled address
        std::unordered_map<uint64_t, trace::AccessSite*> sites; // by instruction, width in the upper bits
    };
    struct FilePlace {
        uint32_t file;
        uint64_t offset;
        bool operator==(const FilePlace&) const = default;
    };
    struct PlaceHash {
        size_t operator()(const FilePlace& place) const {
            return (place.offset ^ uint64_t{place.file} << 40) * 0x9e3779b97f4a7c15u >> 7;
        }
    };
    // Code that was not looked at when it was met.
    struct NewCode {
        WorkShare share;
        std::unordered_map<uint64_t, uint32_t> put_off; // how often, by sampled address, whatever the process
        bool must_wait(const PerfRecord& sample);
    };
    Code& code_of(const Process& process);
    AccessPlan plan_for(const Process& process, uint64_t start, const MappedModule& module, uint64_t address);
    AccessPlan plan_in_file(const Process& process, uint64_t start, const MappedModule& module, uint64_t address,
                            uint32_t file);
    std::shared_ptr<const LoopStreams> loop_for(const Process& process, uint64_t start, const MappedModule& module,
                                                uint64_t address);
    // What `use` makes of the code around `address` of the file, and of its offset there.
    template <class Use>
    auto with_code_in_file(const Process& process, uint64_t start, const MappedModule& module, uint64_t address,
                           uint32_t file, Use use);
    CodeRegion window(const Process& process, uint64_t start, const MappedModule& module, uint64_t address,
                      uint64_t shift);
    static AccessPlan plan_of(const CodeRegion& code, uint64_t sampled);
    trace::AccessSite* site_for(Code& code, uint32_t pid, uint64_t instruction, const AccessPlan& plan,
                                uint64_t time_ns);

    NodeTraceWriter& file_;
    ProcessTable& processes_;
    unwind::StackUnwinder& images_;
    const uint64_t most_bytes_each_;
    CodeReader reader_;
    std::string why_;
    std::unordered_map<uint32_t, Code> codes_;                   // by pid
    std::unordered_map<FilePlace, AccessPlan, PlaceHash> plans_; // of code in files: the same in all processes
    std::unordered_map<FilePlace, std::shared_ptr<const LoopStreams>, PlaceHash> loops_; // the same
    std::unordered_map<FilePlace, std::shared_ptr<const LoopCode>, PlaceHash> loop_codes_; // the same
    std::unordered_map<FilePlace, bool, PlaceHash> behind_yield_; // by address
    std::unordered_map<FilePlace, CodeRegion, PlaceHash> functions_; // by file offset, which also serves as address
    size_t function_bytes_ = 0;
    NewCode new_code_, new_loops_;
    uint64_t user_samples_ = 0, without_registers_ = 0, with_address_ = 0, put_off_ = 0, line_crossings_ = 0;
};

} // namespace plumb::record
