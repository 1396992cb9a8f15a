// Where the time between two meetings of all ranks went. A meeting is a collective in which all ranks that take part in the
// job's main cycle wait for the last one. Between two meetings the job is as fast as the rank that the others wait for (the
// responsible one: responsible.h), so that its time is divided; what it computed is compared with the median of the others.
#pragma once

#include "replay/collectives/epochs.h"
#include "replay/events/off_cpu.h"
#include "replay/messages/chains.h"
#include "replay/responsible.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace plumb::replay {

// Which collectives make up the cycles.
struct CycleShape {
    static CycleShape of(const Job& job, const EpochTable& epochs);

    std::vector<uint32_t> ends; // epochs at which cycles begin and end, in order of time; empty: cycles are not known
    std::vector<uint32_t> meetings; // these, and others between, in order of time
    std::vector<bool> is_meeting;   // by epoch
};

// Of the responsible rank since it left the meeting before; nanoseconds.
struct MeetingParts {
    uint64_t epoch = 0; // the later meeting
    Nanoseconds compute = 0, usual = 0; // outside MPI; of this, what the median of the others computed
    Nanoseconds without_cpu = 0, blocked = 0, waiting = 0;
    Nanoseconds without_cpu_in_mpi = 0; // between the last arrival at the meeting before and its leaving that

    auto operator<=>(const MeetingParts&) const = default;
};

// Reads the collectives of one rank, in the order of its file.
class MeetingReader {
  public:
    // All outlive it.
    struct Input {
        const model::Run& run;
        const Job& job;
        const EpochTable& epochs;
        const CycleShape& shape;
        const MatchedMessages& messages;
        const Responsible& responsible;
    };
    MeetingReader(const Input& input, uint32_t row, std::vector<MeetingParts>& found) : input_(input), row_(row), found_(found) {}

    void take(const Epoch& epoch, const Collective& event);

  private:
    Input input_;
    uint32_t row_;
    std::vector<MeetingParts>& found_;
    std::optional<OffCpu> off_cpu_;
    Nanoseconds compute_ = 0, usual_ = 0, waiting_ = 0, in_mpi_ = 0;
    Nanoseconds entered_ = 0, left_ = 0, complete_ = 0; // the meeting before; the last one arrived there
    bool has_left_ = false;
};

} // namespace plumb::replay
