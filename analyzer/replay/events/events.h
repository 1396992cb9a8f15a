// The events of one rank as a stream from its trace file, in job terms: communicators and sites by index, times in
// nanoseconds of the run. The file is untrusted: events that refer to nothing known, or whose times run backwards, are
// left out.
#pragma once

#include "replay/events/job.h"
#include "trace/file/id_index.h"
#include "trace/file/records.h"

#include <functional>
#include <string>

namespace plumb::replay {

using OpenTrace = std::function<trace::TraceReader(const std::string& name)>;

struct Collective {
    const Membership* membership;
    uint64_t sequence;
    uint32_t site; // index into MpiProcess::sites
    uint32_t kind; // trace::MpiKind
    int32_t root;  // rank in the communicator, -1: none
    Nanoseconds begin, wait, end; // it began; the call that completed it began, and ended
    Nanoseconds gap, gap_mpi;     // since the thread's last collective was complete; of these inside other MPI calls
    uint64_t bytes;

    bool is_root() const { return root == membership->member; }
    Nanoseconds compute() const { return gap - gap_mpi; }
};

struct Message {
    const Membership* membership; // null: a communicator of which the file says nothing
    uint64_t sequence;
    uint32_t site, wait_site; // indexes into MpiProcess::sites
    uint32_t kind;            // trace::MpiKind of the call that began it
    int peer;                 // world rank
    int32_t tag;
    uint32_t flags;           // trace::MpiMessageFlags
    Nanoseconds begin, wait, end;
    uint64_t bytes;
};

// One call of the timeline.
struct TimelineCall {
    uint32_t site; // index into MpiProcess::sites
    uint32_t tid;
    int peer;      // world rank, -1: none or not known
    Nanoseconds begin, end;
    uint64_t bytes;
};

class RankEvents {
  public:
    RankEvents(const model::Run& run, const Rank& rank) : rank_(rank), mpi_(*run.processes[rank.process].mpi) {
        for (uint32_t site = 0; site < mpi_.sites.size(); ++site)
            sites_.add(mpi_.sites[site].id, site);
        for (uint32_t place = 0; place < rank.comms.size(); ++place)
            comms_.add(rank.comms[place].id, place);
    }

    // Calls visitor(const Collective&), visitor(const Message&) and visitor(const TimelineCall&), whichever it takes, in
    // the order of the file, which is not that of time. Throws plumb::Error when the file cannot be read.
    template <class Visitor> void visit(const OpenTrace& open, Visitor&& visitor) const {
        trace::TraceReader file = open(mpi_.file);
        trace::for_each_record(file, trace::Overloaded{
                                         [&](const trace::MpiCollective& record) {
                                             if constexpr (requires(const Collective& event) { visitor(event); })
                                                 if (Collective event; take(record, event))
                                                     visitor(event);
                                         },
                                         [&](const trace::MpiMessage& record) {
                                             if constexpr (requires(const Message& event) { visitor(event); })
                                                 if (Message event; take(record, event))
                                                     visitor(event);
                                         },
                                         [&](const trace::MpiEvent& record) {
                                             if constexpr (requires(const TimelineCall& event) { visitor(event); })
                                                 if (TimelineCall event; take(record, event))
                                                     visitor(event);
                                         },
                                     });
    }

  private:
    bool take(const trace::MpiCollective& record, Collective& event) const;
    bool take(const trace::MpiMessage& record, Message& event) const;
    bool take(const trace::MpiEvent& record, TimelineCall& event) const;

    const Rank& rank_;
    const model::MpiProcess& mpi_;
    trace::IdIndex sites_, comms_;
};

} // namespace plumb::replay
