// Both ends of the messages of a job, laid side by side: late senders and late receivers.
//
// Ends are gathered from each rank's file, in any order and by any number of lists, and are matched by (communicator,
// sender, receiver, tag, sequence). When there are more than memory is meant for, one channel (sender, receiver, tag,
// communicator) in so many is looked at, chosen by a hash.
#pragma once

#include "replay/events/events.h"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace plumb::replay {

// A receive that waited until the sender began to send.
struct LateSender {
    uint32_t receiver = 0, sender = 0; // rows
    uint32_t wait_site = 0;            // of the receiver's process
    Nanoseconds begin = 0, end = 0;    // waiting
    Nanoseconds transfer = 0;          // from the send's begin until the receive was complete
    uint64_t bytes = 0;
    uint64_t weight = 1;               // how many waits it stands for
    bool is_mixed = false;             // the wait also ended with a message from another host, or from the own one (WaitKinds)

    Nanoseconds length() const { return end - begin; }
    Nanoseconds weighted() const { return length() * static_cast<Nanoseconds>(weight); }
};

// A send that waited until the receiver began to receive.
struct LateReceiver {
    uint32_t sender = 0, receiver = 0; // rows
    uint32_t wait_site = 0;            // of the sender's process
    Nanoseconds begin = 0, end = 0;
};

// Either, as one rank waiting for another.
struct PeerWait {
    uint32_t waiter = 0, awaited = 0; // rows
    uint32_t wait_site = 0;           // of the waiter's process
    Nanoseconds begin = 0, end = 0;
    uint64_t weight = 1;              // how many waits it stands for

    Nanoseconds length() const { return end - begin; }
    Nanoseconds weighted() const { return length() * static_cast<Nanoseconds>(weight); }
};

struct MatchedMessages {
    // One for each moment at which a rank waited: of the messages that a Waitall waits for, the one sent last. By the
    // waiting rank, then by begin; they do not overlap within a rank unless several of its threads waited.
    std::vector<LateSender> late_senders;
    std::vector<LateReceiver> late_receivers;
    // Both of them by the waiting rank, then by begin, one for each moment at which a rank waited: the one that ended last.
    std::vector<PeerWait> waits;
    uint64_t matched = 0, unmatched = 0;
    uint64_t weight = 1; // how many messages each one stands for
    // Sends of a rank to one other that begin so close together that there was hardly any work in between: they could be one
    // message. Mean number; 0: no sends were kept. Of thinned messages an estimate.
    double messages_in_burst = 0;

    // Receives laid side by side, by row of the receiver and site of the call that completed them.
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> completed;

    // Tells each late sender its weight. Of the messages that one Waitall completes, each may be the one that was kept, so
    // each stands for a part of that wait only: a wait site does not wait more often than it is called.
    void weigh(const model::Run& run, const Job& job);
    // Late senders of one receiver: [first, second) of late_senders.
    std::pair<size_t, size_t> late_senders_of(uint32_t row) const;

    std::span<const LateReceiver> late_receivers_of(uint32_t sender) const; // by begin
    std::span<const PeerWait> waits_of(uint32_t waiter) const;              // by begin

  private:
    friend class MessageEnds;
    void join_waits(); // of both kinds
};

class MessageEnds {
  public:
    static constexpr size_t kMostEnds = 4 << 20;
    // `most`: how many ends may be kept in all lists together.
    MessageEnds(const Job& job, uint64_t recorded_ends, size_t most = kMostEnds);

    void take(uint32_t row, const Message& event);
    void merge(MessageEnds&& other);
    template <class Carrier> void carry(Carrier& carrier) { carrier(one_in_, ends_, unmatched_); } // see team/packing.h
    bool fits(const Job& job) const; // what was carried here is possible
    MatchedMessages match() &&;

  private:
    struct End {
        uint32_t comm;
        uint32_t sender, receiver; // rows
        int32_t tag;
        uint64_t sequence;
        Nanoseconds begin, wait, end;
        uint64_t bytes;
        uint32_t wait_site;
        uint32_t flags;
        bool receives_too; // by the kind of the call that began it
        bool sent() const { return (flags & trace::kMpiMessageSent) != 0; }
    };
    double messages_in_burst();
    static bool in_order(const End& left, const End& right);
    static bool same_message(const End& left, const End& right);
    void lay_side_by_side(const End& send, const End& receive, MatchedMessages& matched) const;

    const Job* job_;
    uint64_t one_in_; // channels
    std::vector<End> ends_;
    uint64_t unmatched_ = 0; // whose other end's rank was not recorded
};

// Ends of messages that the files of the job's ranks hold at most.
uint64_t recorded_ends(const model::Run& run, const Job& job);

} // namespace plumb::replay
