#include "replay/events/events.h"

#include <algorithm>

namespace plumb::replay {

bool RankEvents::take(const trace::MpiCollective& record, Collective& event) const {
    const uint32_t site = record.site == 0 ? trace::IdIndex::kNone : sites_.find(record.site);
    const uint32_t comm = comms_.find(record.comm);
    if (site == trace::IdIndex::kNone || comm == trace::IdIndex::kNone || record.wait_ticks < record.begin_ticks ||
        record.end_ticks < record.wait_ticks)
        return false;
    event.membership = &rank_.comms[comm];
    event.sequence = record.sequence;
    event.site = site;
    event.kind = mpi_.sites[site].kind;
    event.root = record.root == UINT32_MAX ? -1 : static_cast<int32_t>(record.root);
    event.begin = rank_.clock.moment(record.begin_ticks);
    event.wait = event.begin + rank_.clock.duration(record.wait_ticks - record.begin_ticks);
    event.end = event.wait + rank_.clock.duration(record.end_ticks - record.wait_ticks);
    event.gap = rank_.clock.duration(record.gap_ticks);
    event.gap_mpi = std::min(event.gap, rank_.clock.duration(record.gap_mpi_ticks));
    event.bytes = record.bytes;
    return true;
}

bool RankEvents::take(const trace::MpiMessage& record, Message& event) const {
    const uint32_t site = record.site == 0 ? trace::IdIndex::kNone : sites_.find(record.site);
    const uint32_t wait_site = sites_.find(record.wait_site);
    const uint32_t comm = comms_.find(record.comm);
    if (site == trace::IdIndex::kNone || record.wait_ticks < record.begin_ticks ||
        record.end_ticks < record.wait_ticks)
        return false;
    event.membership = comm == trace::IdIndex::kNone ? nullptr : &rank_.comms[comm];
    event.sequence = record.sequence;
    event.site = site;
    event.wait_site = wait_site == trace::IdIndex::kNone ? site : wait_site;
    event.kind = mpi_.sites[site].kind;
    event.peer = record.peer;
    event.tag = record.tag;
    event.flags = record.flags;
    // Each by itself: messages for which one call waited have the same `wait`, to the nanosecond.
    event.begin = rank_.clock.moment(record.begin_ticks);
    event.wait = std::max(event.begin, rank_.clock.moment(record.wait_ticks));
    event.end = std::max(event.wait, rank_.clock.moment(record.end_ticks));
    event.bytes = record.bytes;
    return true;
}

bool RankEvents::take(const trace::MpiEvent& record, TimelineCall& event) const {
    event.site = record.site == 0 ? trace::IdIndex::kNone : sites_.find(record.site);
    if (event.site == trace::IdIndex::kNone || record.end_ticks < record.begin_ticks)
        return false;
    event.tid = record.header.tid;
    event.peer = record.peer;
    event.begin = rank_.clock.moment(record.begin_ticks);
    event.end = event.begin + rank_.clock.duration(record.end_ticks - record.begin_ticks);
    event.bytes = record.bytes;
    return true;
}

} // namespace plumb::replay
