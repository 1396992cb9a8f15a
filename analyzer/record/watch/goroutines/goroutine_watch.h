// What the goroutines of Go programs wait for, while processors of Go are idle: at random moments, up to fifty times a second,
// their descriptions are read from the process's memory (GoroutineWait and GoroutineLooks records). Nothing happens inside of
// the target. Reading some hundred goroutines takes 50 us, the stack of one that waits for a lock about 5.
//
// Recorded are waits for locks and of senders for receivers: whatever ends them could have come sooner. A goroutine that waits
// for work, for a time, or for the network is as it should be.
#pragma once

#include "record/perf/process_table.h"
#include "record/perf/profile.h"
#include "record/run/node_trace_writer.h"
#include "record/watch/goroutines/goroutine_memory.h"
#include "support/xorshift.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plumb::record {

class GoroutineWatch {
  public:
    // `share`: of the run's time that looks may take. `most_bytes_each`: of the file for one process.
    GoroutineWatch(NodeTraceWriter& file, ProcessTable& processes, Profile& profile, std::string proc_root, double share,
                   uint64_t most_bytes_each)
        : file_(file), processes_(processes), profile_(profile), proc_root_(std::move(proc_root)), share_(share),
          most_bytes_each_(most_bytes_each) {}

    // Looks at all living Go programs, if that is due.
    void look(uint64_t now_ns);

    void forget(uint32_t pid); // it ended

  private:
    struct Image { // one program of a process
        uint64_t generation = 0, bytes = 0;
        bool was_asked = false; // whether it is a Go program
        std::optional<GoroutineMemory> memory;
        uint64_t looked_ns = 0; // 0: never
        std::map<uint8_t, std::string> reasons;
        std::map<std::pair<trace::NodeId, uint8_t>, trace::GoroutineWait*> waits;
        trace::GoroutineLooks* looks = nullptr;
    };
    void look_at(Process& process, Image& image, uint64_t now_ns);
    void find_runtime(const Process& process, Image& image);
    const std::string& words_of(Image& image, uint8_t reason) const;
    trace::NodeId path_of(const Process& process, const WaitingGoroutine& waiting, uint64_t now_ns);
    void count_look(const Process& process, Image& image, uint64_t now_ns, uint64_t elapsed_ns);
    void count_wait(const Process& process, Image& image, const WaitingGoroutine& waiting, uint64_t now_ns, uint64_t time_ns,
                    uint64_t saved_ns);

    NodeTraceWriter& file_;
    ProcessTable& processes_;
    Profile& profile_;
    const std::string proc_root_;
    const double share_;
    const uint64_t most_bytes_each_;
    std::unordered_map<uint32_t, Image> images_; // by pid
    GoroutineState state_;                       // of the latest look
    std::vector<WaitingGoroutine> held_up_;      // of them, those that are recorded
    std::vector<char> stack_;
    uint64_t next_ns_ = 0;
    Xorshift random_;
};

} // namespace plumb::record
