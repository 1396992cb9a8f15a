// Messages of a kernel's log, those of one instruction together.
#pragma once

#include "kernel_log/message.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace plumb::kernel_log {

// All messages of one kind about one instruction of one program; of machine checks and throttled CPUs those with the same words.
struct Group {
    Message first;
    uint64_t count = 0;
    std::string last_when;
    std::set<int> pids; // at most kMostPids
    bool has_more_pids = false;

    // Distances between the addresses of consecutive messages of one process, and how often each occurred: an array that is walked through
    // has the step of its elements.
    std::map<int64_t, uint64_t> steps;
    // The most frequent one, where it makes up at least half of at least three; 0: there is none.
    int64_t step_bytes() const;

    static constexpr size_t kMostPids = 16, kMostSteps = 16;
};

// Bounded: a log of any length takes at most some megabytes.
class Gathered {
  public:
    static constexpr size_t kMostGroups = 4096;

    void add(const Message& message);

    std::vector<Group> groups() const; // by count, the largest first
    uint64_t lines = 0;                // read, of any kind
    uint64_t messages() const { return messages_; }
    uint64_t left_out() const { return left_out_; } // messages of further groups
    // That the kernel did not write: by the function that would have.
    const std::map<std::string, uint64_t>& suppressed() const { return suppressed_; }

  private:
    struct Entry {
        Group group;
        std::map<int, uint64_t> last_address; // by process
    };
    using Key = std::tuple<Kind, std::string, std::string, uint64_t, std::string>; // program, file, address or offset in it, detail

    std::map<Key, Entry> entries_;
    std::map<std::string, uint64_t> suppressed_;
    uint64_t messages_ = 0, left_out_ = 0;
};

// Reads a log to its end; "-": standard input. Lines are cut after 64 KiB. Throws Error where it cannot be read.
void read_log(const std::string& path, Gathered& gathered);

} // namespace plumb::kernel_log
