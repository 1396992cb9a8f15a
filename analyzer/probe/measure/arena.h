// Memory that latency and bandwidth are measured with: larger than the caches, on a given NUMA node, with a ring of pointers
// through all of its lines in random order.
#pragma once

#include "platform/anonymous_memory.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace plumb::probe {

enum class Pages { small, huge };

class Arena {
  public:
    // Nothing is touched before fill(). `node` -1: wherever the kernel puts it.
    Arena(uint64_t bytes, int node, Pages pages);

    // Makes all of it resident and builds the ring: about half a second for each 256 MiB. False: there was no memory.
    bool fill();

    // The same ring in other memory: how long accesses through small pages take depends on which pages a process happens to
    // get, by 10 % and more. What was left by the last `most_kept` moves it keeps, lest the kernel give the same pages again.
    // Where there is no memory, nothing changes.
    void move(size_t most_kept);

    uint64_t bytes() const { return bytes_; }
    char* data() const { return data_; }
    double huge_share() const; // of its pages

    // Each user of the ring goes on where the last one ended, so that nobody finds in a cache what others have left there.
    void** ring_place() const { return place_; }
    void set_ring_place(void** place) { place_ = place; }

  private:
    char* take(std::unique_ptr<platform::AnonymousMemory>& memory) const;

    const int node_;
    const Pages pages_;
    std::unique_ptr<platform::AnonymousMemory> memory_;
    std::deque<std::unique_ptr<platform::AnonymousMemory>> left_; // by moves, the oldest first
    char* data_ = nullptr;
    uint64_t bytes_ = 0;
    void** place_ = nullptr;
};

// A ring through `bytes` of memory at `data`; returns a place in it.
void** build_ring(char* data, uint64_t bytes);

} // namespace plumb::probe
