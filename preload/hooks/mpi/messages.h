// What calls say of messages: sends, receives, probes.
#pragma once

#include "hooks/mpi/languages.h"
#include "hooks/mpi/probed_messages.h"
#include "hooks/mpi/statuses.h"

namespace plumb::shim::mpi {

template <class L> Message sent(uint32_t flags, Word count, Word datatype, Word to, Word tag, Word communicator) {
    return {comm_of<L>(communicator), L::integer(to), L::integer(tag), bytes_of<L>(count, datatype),
            trace::kMpiMessageSent | flags};
}

template <class L> Message received(Word count, Word datatype, Word from, Word tag, Word communicator) {
    return {comm_of<L>(communicator), L::integer(from), L::integer(tag), bytes_of<L>(count, datatype), 0};
}

// A message of `partitions` parts of `count` elements each.
template <class L> Message in_partitions(Message message, Word partitions) {
    const int32_t parts = L::integer(partitions);
    message.bytes *= parts > 0 ? static_cast<uint64_t>(parts) : 0;
    return message;
}

// MPI_Mprobe and MPI_Improbe take a message out of its channel; MPI_Mrecv and MPI_Imrecv receive it, and no longer
// know from where.
template <class L> void remember_probed(Word message, Word communicator, const Arrival& arrival) {
    remember_message(message_at<L>(message), {comm_of<L>(communicator), arrival.source, arrival.tag});
}

// The message that is about to be received; false: a message from MPI_PROC_NULL, or one that found no room.
template <class L> bool take_probed(Word handle, Message* message) {
    ProbedMessage probed;
    if (!take_message(message_at<L>(handle), &probed))
        return false;
    *message = {probed.comm, probed.source, probed.tag, 0, 0};
    return true;
}

} // namespace plumb::shim::mpi
