#include "record/mpi/calls/operations.h"

#include "record/mpi/tables/counters.h"

namespace plumb::shim::mpi {
namespace {

constexpr uint32_t kSent = trace::kMpiMessageSent, kWildcard = trace::kMpiMessageWildcard;

// All fields but what messages and collectives say of themselves. One by one: compilers clear a structure of this size by
// a string instruction, which takes longer than all the rest.
void begin_description(Operation& operation, Operation::Kind kind) {
    operation.kind = kind;
    operation.persistent = false;
    operation.active = true;
    operation.kept = operation.numbered = operation.wildcard = operation.silent = false;
    operation.comm_id = operation.comm_place = operation.comm_generation = 0;
    operation.site = 0;
    operation.sequence = 0;
    operation.begin_ticks = operation.begun_ticks = 0;
    operation.gap_ticks = operation.gap_mpi_ticks = 0;
    operation.received_bytes = 0;
}

void set_comm(const Rank& rank, const Comm* comm, Operation& operation) {
    if (!comm)
        return;
    operation.comm_id = comm->id;
    operation.comm_place = rank.comms.place_of(comm);
    operation.comm_generation = comm->generation;
}

void count_bytes(Site* site, bool sent, uint64_t bytes) {
    if (!site)
        return;
    trace::MpiSite& counts = *site->record;
    add_to(sent ? counts.sent_bytes : counts.received_bytes, bytes);
    add_to(counts.size_histogram[size_class(bytes)], 1);
}

// The size of one call of a collective: what this rank contributes; of data from a root, what it gets of them (the root of a
// broadcast: what it sends); of a file: what it reads or writes. MPI_Start does not say which operation it starts.
uint64_t collective_bytes(const Function& function, uint64_t sent_bytes, uint64_t received_bytes) {
    if (function.kind & trace::kMpiFile)
        return sent_bytes + received_bytes;
    if (function.kind & trace::kMpiFromRoot)
        return received_bytes ? received_bytes : sent_bytes;
    if (function.kind & trace::kMpiCollectiveCall)
        return sent_bytes;
    return sent_bytes ? sent_bytes : received_bytes;
}

void count_collective(Site* site, uint64_t sent_bytes, uint64_t received_bytes) {
    if (!site)
        return;
    trace::MpiSite& counts = *site->record;
    add_to(counts.sent_bytes, sent_bytes);
    add_to(counts.received_bytes, received_bytes);
    const uint64_t bytes = site->function ? collective_bytes(*site->function, sent_bytes, received_bytes) : sent_bytes;
    add_to(counts.size_histogram[size_class(bytes)], 1);
}

bool is_wildcard(const Rank& rank, const Message& message) {
    return !(message.flags & kSent) && (message.peer == rank.library->any_source || message.tag == rank.library->any_tag);
}

// Sender and receiver as ranks of the world; -1: not known.
struct Ends {
    int32_t sender, receiver;
};
Ends ends_of(const Rank& rank, int32_t world_peer, bool sent) {
    const int32_t self = rank.questions.world_rank();
    return sent ? Ends{self, world_peer} : Ends{world_peer, self};
}

// Null: the communicator is not known, and so is the peer.
Channels::Number number_of(Rank& rank, const Comm* comm, int32_t world_peer, int32_t tag, bool sent) {
    if (!comm)
        return {false, 0};
    const Ends ends = ends_of(rank, world_peer, sent);
    return rank.channels.next(*comm, ends.sender, ends.receiver, tag, sent);
}

void number_message(Rank& rank, Operation& operation, const Comm* comm) {
    if (!comm)
        return;
    const Channels::Number number =
        number_of(rank, comm, comm->world_rank_of(operation.peer), operation.tag, operation.flags & kSent);
    operation.numbered = number.known;
    operation.sequence = number.sequence;
}

void keep(const Guard& guard, Rank& rank, trace::MpiMessage& event) {
    rank.messages.store(guard, event);
    set(rank.record.load(std::memory_order_relaxed)->message_stride, rank.messages.stride());
}

void keep(const Guard& guard, Rank& rank, trace::MpiCollective& event) {
    rank.collectives.store(guard, event);
    set(rank.record.load(std::memory_order_relaxed)->collective_stride, rank.collectives.stride());
}

void end_message(const Guard& guard, Rank& rank, Operation& operation, const Ending& ending) {
    const bool sent = operation.flags & kSent;
    const Comm* const comm = rank.comms.at(operation.comm_place, operation.comm_generation);
    if (const Arrival* const arrival = ending.arrival; arrival && arrival->cancelled) {
        if (!sent && operation.numbered && comm) {
            const Ends ends = ends_of(rank, comm->world_rank_of(operation.peer), false);
            rank.channels.take_back(*comm, ends.sender, ends.receiver, operation.tag, operation.sequence);
        }
        return;
    } else if (arrival && !sent) {
        operation.bytes = arrival->bytes;
        if (operation.wildcard) {
            operation.peer = arrival->source;
            operation.tag = arrival->tag;
        }
    }
    if (operation.peer == rank.library->no_process)
        return;
    if (operation.wildcard && operation.peer != rank.library->any_source)
        number_message(rank, operation, comm);
    add_to(rank.record.load(std::memory_order_relaxed)->messages, 1);
    const int32_t peer = comm ? comm->world_rank_of(operation.peer) : -1;
    if (operation.kept) {
        if (!sent)
            count_bytes(rank.sites.at(operation.site), false, operation.bytes);
        rank.peers.count(guard, peer, sent ? trace::MpiDirection::sent : trace::MpiDirection::received, operation.bytes);
    }
    if (!operation.numbered || !operation.site) {
        count_unmatched(rank);
        return;
    }
    if (!operation.kept || !rank.messages.keeps(operation.sequence))
        return;
    trace::MpiMessage event{};
    event.comm = operation.comm_id;
    event.site = operation.site;
    event.peer = peer;
    event.tag = operation.tag;
    event.flags = operation.flags;
    event.wait_site = ending.site;
    event.sequence = operation.sequence;
    event.begin_ticks = operation.begin_ticks;
    event.wait_ticks = ending.wait_ticks;
    event.end_ticks = ending.end_ticks;
    event.bytes = operation.bytes;
    keep(guard, rank, event);
}

void end_collective(const Guard& guard, Rank& rank, Operation& operation, const Ending& ending) {
    add_to(rank.record.load(std::memory_order_relaxed)->collectives, 1);
    if (!operation.numbered || !operation.site) {
        count_unmatched(rank);
        return;
    }
    if (!operation.kept || !rank.collectives.keeps(operation.sequence))
        return;
    trace::MpiCollective event{};
    event.comm = operation.comm_id;
    event.site = operation.site;
    event.sequence = operation.sequence;
    event.begin_ticks = operation.begin_ticks;
    event.wait_ticks = ending.wait_ticks;
    event.end_ticks = ending.end_ticks;
    event.gap_ticks = operation.gap_ticks;
    event.gap_mpi_ticks = operation.gap_mpi_ticks;
    event.root = static_cast<uint32_t>(operation.peer);
    event.bytes = operation.bytes;
    keep(guard, rank, event);
}

} // namespace

void count_unmatched(Rank& rank) { add_to(rank.record.load(std::memory_order_relaxed)->unmatched, 1); }

void record_message(const Guard& guard, Rank& rank, const Comm* comm, const Message& message, const Arrival* arrival, Site* site,
                    const CallTimes& times) {
    const bool sent = message.flags & kSent;
    int32_t peer = message.peer, tag = message.tag;
    uint64_t bytes = message.bytes;
    uint32_t flags = message.flags;
    if (!sent) {
        if (is_wildcard(rank, message)) {
            flags |= kWildcard;
            if (arrival) {
                peer = arrival->source;
                tag = arrival->tag;
            }
        }
        if (arrival) {
            if (arrival->cancelled)
                return;
            bytes = arrival->bytes;
        }
    }
    if (peer == rank.library->no_process)
        return;
    const int32_t world_peer = comm ? comm->world_rank_of(peer) : -1;
    const Channels::Number number = number_of(rank, comm, world_peer, tag, sent);
    add_to(rank.record.load(std::memory_order_relaxed)->messages, 1);
    if (site) {
        count_bytes(site, sent, bytes);
        rank.peers.count(guard, world_peer, sent ? trace::MpiDirection::sent : trace::MpiDirection::received, bytes);
    }
    if (!number.known || !site || !site->id) {
        count_unmatched(rank);
        return;
    }
    if (!rank.messages.keeps(number.sequence))
        return;
    trace::MpiMessage event{};
    event.comm = comm->id;
    event.site = site->id;
    event.wait_site = times.wait_site ? times.wait_site : site->id;
    event.peer = world_peer;
    event.tag = tag;
    event.flags = flags;
    event.sequence = number.sequence;
    event.begin_ticks = event.wait_ticks = times.begin_ticks;
    event.end_ticks = times.end_ticks;
    event.bytes = bytes;
    keep(guard, rank, event);
}

void record_collective(const Guard& guard, Rank& rank, Comm* comm, const Collective& collective, Site* site,
                       const CallTimes& times) {
    add_to(rank.record.load(std::memory_order_relaxed)->collectives, 1);
    count_collective(site, collective.sent_bytes, collective.received_bytes);
    const uint64_t sequence = comm ? comm->collectives++ : 0;
    if (!comm || !comm->id || !site || !site->id) {
        count_unmatched(rank);
        return;
    }
    if (!rank.collectives.keeps(sequence))
        return;
    trace::MpiCollective event{};
    event.comm = comm->id;
    event.site = site->id;
    event.sequence = sequence;
    event.begin_ticks = event.wait_ticks = times.begin_ticks;
    event.end_ticks = times.end_ticks;
    event.gap_ticks = times.gap_ticks;
    event.gap_mpi_ticks = times.gap_mpi_ticks;
    event.root = static_cast<uint32_t>(collective.root);
    event.bytes = collective.sent_bytes;
    keep(guard, rank, event);
}

void describe(const Rank& rank, const Message& message, const Comm* comm, Operation* described) {
    Operation& operation = *described;
    begin_description(operation, Operation::Kind::message);
    set_comm(rank, comm, operation);
    operation.flags = message.flags;
    operation.peer = message.peer;
    operation.tag = message.tag;
    operation.bytes = message.bytes;
    if (is_wildcard(rank, message)) {
        operation.wildcard = true;
        operation.flags |= kWildcard;
    }
}

void describe(const Rank& rank, const Collective& collective, const Comm* comm, Operation* described) {
    Operation& operation = *described;
    begin_description(operation, Operation::Kind::collective);
    set_comm(rank, comm, operation);
    operation.flags = 0;
    operation.peer = collective.root;
    operation.tag = 0;
    operation.bytes = collective.sent_bytes;
    operation.received_bytes = collective.received_bytes;
}

void describe_other(Operation* described) { begin_description(*described, Operation::Kind::other); }

void begin_operation(const Guard&, Rank& rank, Operation& operation, Site* site) {
    Comm* const comm = rank.comms.at(operation.comm_place, operation.comm_generation);
    operation.site = site ? site->id : 0;
    operation.numbered = false;
    if (operation.kind == Operation::Kind::collective) {
        operation.numbered = comm && comm->id;
        operation.sequence = comm ? comm->collectives++ : 0;
        count_collective(site, operation.bytes, operation.received_bytes);
    } else if (operation.kind == Operation::Kind::message && operation.peer != rank.library->no_process) {
        if (!operation.wildcard)
            number_message(rank, operation, comm);
        if (operation.flags & kSent)
            count_bytes(site, true, operation.bytes);
    }
}

bool end_operation(const Guard& guard, Rank& rank, Operation& operation, const Ending& ending) {
    if (operation.kind == Operation::Kind::message)
        end_message(guard, rank, operation, ending);
    else if (operation.kind == Operation::Kind::collective)
        end_collective(guard, rank, operation, ending);
    return operation.kind == Operation::Kind::collective;
}

} // namespace plumb::shim::mpi
