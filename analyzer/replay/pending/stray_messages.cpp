// Messages that were sent to a rank which waits for another one: with another tag, or on another communicator.
#include "replay/pending/pending.h"
#include "support/error.h"

#include <map>
#include <set>

namespace plumb::replay {

namespace {

struct Channel {
    uint32_t comm; // index into Job::comms
    int tag;
    auto operator<=>(const Channel&) const = default;
};
struct Sent {
    std::set<uint64_t> sequences; // not received
    uint32_t site = 0;            // of the latest: index into MpiProcess::sites
};

// What `sender` sent to `receiver` and that one did not receive. Throws plumb::Error where a file cannot be read.
std::map<Channel, Sent> unreceived(const model::Run& run, const Rank& sender, const Rank& receiver, const OpenTrace& open) {
    std::map<Channel, Sent> channels;
    RankEvents(run, sender).visit(open, [&](const Message& message) {
        if (!(message.flags & trace::kMpiMessageSent) || message.peer != receiver.rank || !message.membership)
            return;
        Sent& sent = channels[{message.membership->comm, message.tag}];
        sent.sequences.insert(message.sequence);
        sent.site = message.site;
    });
    RankEvents(run, receiver).visit(open, [&](const Message& message) {
        if (message.flags & trace::kMpiMessageSent || message.peer != sender.rank || !message.membership)
            return;
        if (const auto found = channels.find({message.membership->comm, message.tag}); found != channels.end())
            found->second.sequences.erase(message.sequence);
    });
    std::erase_if(channels, [](const auto& channel) { return channel.second.sequences.empty(); });
    return channels;
}

// The communicator of the call that the rank is inside of; UINT32_MAX: not known.
uint32_t comm_of_wait(const model::Run& run, const Rank& rank) {
    for (const model::MpiInside& inside : run.processes[rank.process].mpi->inside)
        for (const Membership& membership : rank.comms)
            if (inside.comm != 0 && membership.id == inside.comm)
                return membership.comm;
    return UINT32_MAX;
}

} // namespace

void find_stray_messages(const model::Run& run, const Job& job, const OpenTrace& open, model::MpiPending& pending) {
    size_t pairs = 0;
    for (uint32_t place = 0; place < pending.ranks.size(); ++place)
        for (const model::MpiAwaited& awaited : pending.ranks[place].awaits) {
            const Rank* const sender = awaited.rank < 0 ? nullptr : job.find(awaited.rank);
            const Rank* const receiver = job.find(pending.ranks[place].rank);
            if (awaited.sends || awaited.tag < 0 || !sender || !receiver || job.message_stride > 1)
                continue;
            using Direction = model::MpiPeer::Direction;
            if (messages_between(*run.processes[sender->process].mpi, receiver->rank, Direction::sent) <=
                messages_between(*run.processes[receiver->process].mpi, sender->rank, Direction::received))
                continue;
            if (++pairs > kMostStrayPairs)
                return;
            std::map<Channel, Sent> channels;
            try {
                channels = unreceived(run, *sender, *receiver, open);
            } catch (const Error&) {
                continue; // the replay of the events has noted it
            }
            const uint32_t comm = comm_of_wait(run, *receiver);
            for (const auto& [channel, sent] : channels) {
                const bool other_comm = comm != UINT32_MAX && channel.comm != comm;
                if (!other_comm && channel.tag == awaited.tag)
                    continue; // it is on its way
                const model::MpiSite& site = run.processes[sender->process].mpi->sites[sent.site];
                pending.strays.push_back({.waiting = place,
                                          .sender = sender->rank,
                                          .tag = channel.tag,
                                          .other_comm = other_comm,
                                          .messages = sent.sequences.size(),
                                          .process = sender->process,
                                          .path = site.path});
                break;
            }
        }
}

} // namespace plumb::replay
