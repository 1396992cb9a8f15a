// When the thread that measures a CPU was off it, although it never waits for anything: others had the CPU. From the kernel's
// records of switches, exact. Who it was comes with privileges (CAP_PERFMON, or perf_event_paranoid below 1) only.
#pragma once

#include "record/perf/perf_record.h"
#include "record/perf/perf_ring.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace plumb::record {

struct Absence {
    struct Part { // of one thread; 0: not known which, or none
        uint32_t tid = 0, pid = 0;
        uint64_t begin_ns = 0, end_ns = 0;
        uint32_t name = 0; // in a NameTable
        bool is_sometime = false; // of the thread in all for that long, but perhaps not here

        uint64_t length_ns() const { return end_ns - begin_ns; }
    };
    uint64_t begin_ns = 0, end_ns = 0;
    std::vector<Part> parts; // by time; at first without gaps

    uint64_t length_ns() const { // of its parts
        uint64_t sum_ns = 0;
        for (const Part& part : parts)
            sum_ns += part.length_ns();
        return sum_ns;
    }
};

// Texts by small numbers; 0: none.
class NameTable {
  public:
    uint32_t number_of(const std::string& name);
    const std::string& at(uint32_t number) const { return names_[number]; }
    size_t size() const { return names_.size(); }

  private:
    static constexpr size_t kMost = 1u << 16; // what comes later has no name
    std::vector<std::string> names_{""};
    std::map<std::string, uint32_t> numbers_{{"", 0}};
};

// Makes absences of one thread out of switches on its CPU, in order of time. Pure.
class AbsenceBuilder {
  public:
    explicit AbsenceBuilder(uint32_t tid) : tid_(tid) {}

    void left(uint32_t tid, uint64_t time_ns);                 // of other threads without effect
    void came(uint32_t tid, uint32_t pid, uint64_t time_ns);   // onto the CPU
    std::vector<Absence> take() { return std::exchange(done_, {}); } // that have ended
    bool is_off() const { return is_off_; } // an absence goes on
    void lost() { is_off_ = false; } // records are missing: what was going on is not known

  private:
    uint32_t tid_;
    bool is_off_ = false;
    Absence absence_;
    std::vector<Absence> done_;
};

class AbsenceWatch {
  public:
    // Of the thread `tid`, which is bound to `cpu`.
    AbsenceWatch(int cpu, uint32_t tid);

    bool works() const { return error_ == 0; }
    int error() const { return error_; }
    bool knows_names() const { return knows_names_; }
    int fd() const { return ring_.fd(); } // for poll: readable from half full on
    uint64_t lost() const { return lost_; } // records
    bool is_off() const { return builder_.is_off(); } // at the last call of read()

    // What the kernel wrote since the last call. `proc_root`: where names of threads stand that no record names.
    std::vector<Absence> read(NameTable& names, const std::string& proc_root);

  private:
    uint32_t name_of(uint32_t tid, NameTable& names, const std::string& proc_root);

    PerfRing ring_;
    AbsenceBuilder builder_;
    std::map<uint32_t, uint32_t> names_; // by tid, of threads met since the last call and some before
    uint64_t fields_ = 0, lost_ = 0;
    bool knows_names_ = false;
    int error_ = 0;
};

} // namespace plumb::record
