#include "record/mpi/operations.h"

#include "record/mpi/counters.h"

namespace plumb::shim::mpi {
namespace {

constexpr uint32_t kSent = trace::kMpiMessageSent, kWildcard = trace::kMpiMessageWildcard;

// All fields but what messages and collectives say of themselves. One by one: compilers clear a structure of this size by
// a string instruction, which takes longer than all the rest.
void begin_description(const Rank& rank, Operation& operation, Operation::Kind kind, const Comm* comm) {
    operation.kind = kind;
    operation.persistent = false;
    operation.active = true;
    operation.kept = operation.numbered = operation.wildcard = false;
    operation.comm_id = comm ? comm->id : 0;
    operation.comm_place = comm ? rank.comms.place_of(comm) : 0;
    operation.comm_generation = comm ? comm->generation : 0;
    operation.next = operation.last = operation.site = 0;
    operation.sequence = 0;
    operation.begin_ticks = operation.begun_ticks = 0;
    operation.gap_ticks = operation.gap_mpi_ticks = 0;
    operation.received_bytes = 0;
}

void count_bytes(Site* site, bool sent, uint64_t bytes) {
    if (!site)
        return;
    trace::MpiSite& counts = *site->record;
    add_to(sent ? counts.sent_bytes : counts.received_bytes, bytes);
    add_to(counts.size_histogram[size_class(bytes)], 1);
}

void count_unmatched(Rank& rank) { add_to(rank.record.load(std::memory_order_relaxed)->unmatched, 1); }

// Sender and receiver as ranks of the world; -1: not known.
struct Ends {
    int32_t sender, receiver;
};
Ends ends_of(const Rank& rank, const Comm& comm, int32_t peer, bool sent) {
    const int32_t self = rank.questions.world_rank(), other = comm.world_rank_of(peer);
    return sent ? Ends{self, other} : Ends{other, self};
}

void number_message(Rank& rank, Operation& operation, const Comm* comm) {
    if (!comm)
        return;
    const bool sent = operation.flags & kSent;
    const Ends ends = ends_of(rank, *comm, operation.peer, sent);
    const Channels::Number number = rank.channels.next(*comm, ends.sender, ends.receiver, operation.tag, sent);
    operation.numbered = number.known;
    operation.sequence = number.sequence;
}

void end_message(const Guard& guard, Rank& rank, Operation& operation, const Ending& ending) {
    const bool sent = operation.flags & kSent;
    const Comm* const comm = rank.comms.at(operation.comm_place, operation.comm_generation);
    if (const Arrival* const arrival = ending.arrival; arrival && arrival->cancelled) {
        if (!sent && operation.numbered && comm) {
            const Ends ends = ends_of(rank, *comm, operation.peer, false);
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
    trace::MpiRank& totals = *rank.record.load(std::memory_order_relaxed);
    add_to(totals.messages, 1);
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
    rank.messages.store(guard, event);
    set(totals.message_stride, rank.messages.stride());
}

void end_collective(const Guard& guard, Rank& rank, Operation& operation, const Ending& ending) {
    trace::MpiRank& totals = *rank.record.load(std::memory_order_relaxed);
    add_to(totals.collectives, 1);
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
    rank.collectives.store(guard, event);
    set(totals.collective_stride, rank.collectives.stride());
}

} // namespace

Operation operation_of(const Rank& rank, const Message& message, const Comm* comm) {
    Operation operation;
    begin_description(rank, operation, Operation::Kind::message, comm);
    operation.flags = message.flags;
    operation.peer = message.peer;
    operation.tag = message.tag;
    operation.bytes = message.bytes;
    if (!(message.flags & kSent) && (message.peer == rank.library->any_source || message.tag == rank.library->any_tag)) {
        operation.wildcard = true;
        operation.flags |= kWildcard;
    }
    return operation;
}

Operation operation_of(const Rank& rank, const Collective& collective, const Comm* comm) {
    Operation operation;
    begin_description(rank, operation, Operation::Kind::collective, comm);
    operation.flags = 0;
    operation.peer = collective.root;
    operation.tag = 0;
    operation.bytes = collective.sent_bytes;
    operation.received_bytes = collective.received_bytes;
    return operation;
}

void begin_operation(const Guard&, Rank& rank, Operation& operation, Site* site) {
    Comm* const comm = rank.comms.at(operation.comm_place, operation.comm_generation);
    operation.site = site ? site->id : 0;
    operation.numbered = false;
    if (operation.kind == Operation::Kind::collective) {
        operation.numbered = comm && comm->id;
        operation.sequence = comm ? comm->collectives++ : 0;
        count_bytes(site, true, operation.bytes);
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
