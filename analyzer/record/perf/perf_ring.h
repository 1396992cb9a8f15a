// One perf event on one CPU with its ring, following a process and all its descendants.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace plumb::record {

class PerfRing {
  public:
    PerfRing() = default;
    ~PerfRing();
    PerfRing(PerfRing&& other) noexcept;
    PerfRing& operator=(PerfRing&& other) noexcept;

    // Opens `attributes` for `pid` on `cpu` with a ring of at most `pages` (a power of two), fewer if the system
    // allows no more locked memory. Returns 0 or an errno; ENOMEM: not even one page.
    int open(const perf_event_attr& attributes, int pid, int cpu, size_t pages);

    // Opens `attributes` without a ring of its own: its records go into `other`'s, which must be of the same CPU.
    int open_into(const perf_event_attr& attributes, int pid, const PerfRing& other);

    int fd() const { return fd_; }
    int cpu() const { return cpu_; }
    size_t pages() const { return pages_; }

    // Hands out every record that is in the ring now, oldest first, each contiguous, aligned to 8 bytes, and valid until its
    // room is freed or the ring is read again; with it the end of the record, for free_until(). Frees nothing. Returns the
    // end of all that was there.
    uint64_t read(const std::function<void(const perf_event_header&, uint64_t end)>& take);
    void free_until(uint64_t end);

    // The same, and frees the room of all of them behind it.
    void drain(const std::function<void(const perf_event_header&)>& take);

    // Records that found no room, also those that no LOST record speaks of because nothing was written after them. Of an
    // event that was opened with PERF_FORMAT_LOST alone (Linux 6.0); else 0.
    uint64_t lost() const;

    void enable(bool on); // of the event and all its inherited copies
    void enable_for(int samples); // it stops by itself behind the last one; of an event that is not inherited

  private:
    int fd_ = -1, cpu_ = -1;
    size_t pages_ = 0;
    char* base_ = nullptr;
    std::vector<uint64_t> wrapped_; // a copy of the record that goes on at the ring's beginning
};

} // namespace plumb::record
