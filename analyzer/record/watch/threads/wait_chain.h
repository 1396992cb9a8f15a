// Whom the run's wall time depends on at one moment: from the run's first thread on, who waits for whom is followed to
// threads that wait for nobody of the run. What makes one of those shorter makes the run shorter, as long as no other thread
// takes its place.
//
// Where the waker is known (a thread that is joined, the holder of a lock, a child process, the process that has the other
// end of a pipe), the chain goes there. Where it is not (conditions, semaphores, events), the share is divided among the threads that ran at that moment: first those
// of the same process for a futex, all of the run for what crosses processes; if none ran, among those that wait for a
// device or a time. If there is none either, a futex may be waited at for what another thread of the process brings from a child
// process or over a pipe: the chain goes on from those that wait for it. Else it ends at the thread that waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace plumb::record {

struct ThreadMoment {
    enum class State : uint8_t {
        runs,       // or waits for a CPU
        for_thread, // for what it holds: `waits_for` is the thread's id
        for_end,    // until it ends: `waits_for` is the thread's id
        for_child,  // `waits_for` is the process's id, 0: any child
        for_work,   // what another thread of the process brings
        for_peer,   // what the processes `peers` bring, or take
        for_input,  // what another thread or process brings
        for_device, // a file, a page, a time: nobody of the run
        unknown
    };
    uint32_t tid = 0, pid = 0, parent_pid = 0; // parent_pid: of the process
    State state = State::unknown;
    uint32_t waits_for = 0;
    bool idles = false; // has waited in the same place for most of its life: nobody waits for it
    static constexpr size_t kMostPeers = 4;
    std::array<uint32_t, kMostPeers> peers{}; // process ids, the first ones that are not 0
    // Of a waiting one: of the time since the look before, what it is taken to have run, or to have been ready to.
    double ran = 0;
    bool sleeps = false; // for_device: for a time, which may be a way to wait for others
    bool at_lock = false; // for_work: for a lock that does not say who holds it
    bool at_set_time = false; // sleeps: until an absolute time, as a loop does that keeps a period
};

// Whether a thread that waits so for nearly all its life may do it by design: not for a file (`of_file`: its wait is for one on a
// disk), for what another thread holds, or for the end of one.
bool may_idle(ThreadMoment::State state, bool of_file);

class WaitChain {
  public:
    // Indexes of threads that go on, but only until they wait for others that do (held_back.h), with those of the others.
    using Holders = std::unordered_map<size_t, std::vector<size_t>>;

    // `threads`, and `holders` if it is not null, must outlive this.
    explicit WaitChain(std::span<const ThreadMoment> threads, const Holders* holders = nullptr);

    // Divides 1 among threads. Nothing where `tid` is not among them.
    void follow(uint32_t tid);

    struct Share {
        size_t thread; // index
        double share;
        bool ran = false; // before it began to wait
    };
    const std::vector<Share>& ends() const { return ends_; }   // where chains end; a thread may come more than once
    const std::vector<Share>& links() const { return links_; } // threads for_thread that chains went through
    struct Edge {
        size_t from, to; // indexes
        double share;
    };
    const std::vector<Edge>& edges() const { return edges_; } // each step from a waiting thread to one that it waits for

    // Whom a thread waits for: none where it waits for nobody of the run.
    std::vector<size_t> awaited_by(size_t thread) const;

    // Nothing else went on: no other thread ran, or waited for a device.
    bool is_alone(size_t thread) const;
    // The same, where others may sleep for some time: they may look for what this one does.
    bool is_quiet(size_t thread) const;

  private:
    void visit(size_t thread, double share);
    std::vector<size_t> those(ThreadMoment::State state, uint32_t pid) const; // pid 0: of all processes
    std::vector<size_t> thread_of(const ThreadMoment& waiting) const;
    std::vector<size_t> peers_of(const ThreadMoment& waiting) const;
    std::vector<size_t> children_of(const ThreadMoment& parent) const;
    std::vector<size_t> bringers_of(const ThreadMoment& waiting) const;
    std::vector<size_t> followed_from(size_t thread) const;
    const std::vector<size_t>* holders_of(size_t thread) const;

    std::span<const ThreadMoment> threads_;
    const Holders* const holders_;
    std::unordered_map<uint32_t, size_t> by_tid_;
    std::unordered_map<uint32_t, std::vector<size_t>> running_, on_device_, at_locks_; // by process, 0: all; without those that idle
    std::unordered_map<uint32_t, std::vector<size_t>> outside_; // by process: they wait for others; the same
    std::vector<bool> on_the_way_; // of the chain at hand: a circle of locks has no end
    std::vector<Share> ends_, links_;
    std::vector<Edge> edges_;
    size_t steps_ = 0;
};

} // namespace plumb::record
